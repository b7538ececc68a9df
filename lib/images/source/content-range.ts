import { ServiceError } from '#lib/errors.ts'

/** The range of an upload: the position of its first byte, and the number of its bytes. */
export interface UploadRange {
  readonly start: number
  readonly length: number
}

/**
 * Parses a Content-Range header: `bytes 0-1023/*`, or with the size of the whole in place of `*`. Throws `invalid` when it is
 * missing or malformed.
 */
export const parseContentRange = (text: string | null): UploadRange => {
  const [, first, last, total] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(text?.trim() ?? '') ?? []
  const [start, end] = [Number(first), Number(last)]
  if (first === undefined || end < start || (total !== '*' && end >= Number(total)))
    throw new ServiceError(
      'invalid',
      'Send the position of the range as Content-Range: bytes FIRST-LAST/TOTAL, where TOTAL may be *, and the bytes as the body.',
    )
  return { start, length: end - start + 1 }
}
