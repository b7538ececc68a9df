import type { IncomingHttpHeaders } from 'node:http'
import { TransientError } from '#lib/async/retry.ts'
import { ServiceError } from '#lib/errors.ts'
import type { OpenReply } from '#lib/platform/outgoing.ts'

/** What is known of the file that a download has a part of. */
export interface KnownFile {
  /** A strong ETag, or the time of the last change: a range of another version is not added to this one. */
  readonly validator?: string | undefined
  /** Bytes of the whole file. */
  readonly size?: number | undefined
}

/** What a reply means for a download. */
export type ReplyPlan =
  | { readonly act: 'write'; readonly start: number; readonly file: KnownFile }
  /** All bytes are there already. */
  | { readonly act: 'finish' }
  /** The file has changed, so the bytes that are there are useless. */
  | { readonly act: 'restart' }

const readValidator = ({ etag, 'last-modified': modified }: IncomingHttpHeaders): string | undefined =>
  etag?.startsWith('"') ? etag : etag === undefined ? modified : undefined

const readLength = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined

const rangePattern = /^bytes (?:(\d{1,15})-\d{1,15}|\*)\/(\d{1,15}|\*)$/

/**
 * Decides what to do with the reply to a request for the bytes from `offset` on. Throws a TransientError when the server is busy,
 * and `upstream` for other refusals.
 */
export const planReply = (
  { status, headers }: Pick<OpenReply, 'status' | 'headers'>,
  { host, offset, known }: { readonly host: string; readonly offset: number; readonly known: KnownFile },
): ReplyPlan => {
  const [, first, total] = rangePattern.exec(headers['content-range'] ?? '') ?? []
  const validator = readValidator(headers)
  const size = status === 200 ? readLength(headers['content-length']) : readLength(total)
  const { 'content-encoding': encoding = 'identity' } = headers
  if (status === 200 || status === 206) {
    if (encoding !== 'identity')
      throw new ServiceError(
        'upstream',
        `The host ${host} sends the file encoded as ${encoding}, which was not asked for.`,
      )
    if (status === 200) return { act: 'write', start: 0, file: { validator, size } }
    const isSame = validator === known.validator && (known.size === undefined || size === known.size)
    return Number(first) === offset && isSame
      ? { act: 'write', start: offset, file: { validator, size } }
      : { act: 'restart' }
  }
  if (status === 416) return size === offset && size === known.size ? { act: 'finish' } : { act: 'restart' }
  const message = `The host ${host} answered ${status} for the image.`
  if (status === 408 || status === 429 || status >= 500)
    throw new TransientError(message, undefined, (readLength(headers['retry-after']) ?? 0) * 1000)
  throw new ServiceError('upstream', message)
}
