import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { ByteRange, ObjectStat } from './provider.ts'
import type { Reply } from './request.ts'

/** Gives a reply back whose body nobody needs. */
export const discard = async ({ body }: Reply): Promise<void> => body.cancel().catch(() => undefined)

/** Reads a reply that is no object: `most` bytes of it at most. Throws `upstream` for more. */
export const textOf = async (name: string, { body }: Reply, most: number): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > most)
      throw new ServiceError('upstream', `${name} answered with more than the ${most} bytes that are read.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** What JSON says; undefined for what is none. */
export const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Reads a reply in JSON as `textOf` does. */
export const jsonOf = async (name: string, reply: Reply, most: number): Promise<unknown> =>
  parsed(await textOf(name, reply, most))

/** A time as others write it, as that of an object; nothing for what is no time. */
export const modifiedAtOf = (text: string | null | undefined): Pick<ObjectStat, 'modifiedAt'> => {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? {} : { modifiedAt: new Date(time).toISOString() }
}

/** Whether a status says that it is done. */
export const isDone = ({ status }: Reply): boolean => status >= 200 && status < 300

/** What a status that was not hoped for means; nothing of the reply is repeated, because it may repeat a secret. */
export const refusal = async (name: string, reply: Reply, what: string): Promise<ServiceError> => {
  await discard(reply)
  const { status } = reply
  if (status === 401 || status === 403)
    return new ServiceError(
      'upstream',
      `${name} refused the credentials when ${what} (${status}): check them in the connection, and what they may do.`,
    )
  if (status === 507) return new ServiceError('no-space', `${name} is full, so ${what} failed.`)
  if (status >= 300 && status < 400)
    return new ServiceError('upstream', `${name} sends elsewhere when ${what} (${status}), which is not followed.`)
  return new ServiceError('upstream', `${name} answered ${status} when ${what}.`)
}

/** How many bytes a reply says that it has; undefined when it does not say. */
export const lengthOf = ({ headers }: Reply): number | undefined => {
  const text = headers.get('content-length')
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined
}

/** Throws `invalid` for a range that has no bytes. */
export const checkRange = (path: string, { start, end }: ByteRange): void => {
  if (start < 0 || start >= end) throw new ServiceError('invalid', `${path} has no bytes from ${start} to ${end}.`)
}

export const rangeHeader = ({ start, end }: ByteRange): { readonly Range: string } => ({
  Range: `bytes=${start}-${end - 1}`,
})

/** Checks that a reply has the bytes that were asked for, and not others. */
export const checkPartial = async (name: string, reply: Reply, { start, end }: ByteRange, what: string) => {
  if (reply.status === 206 && reply.headers.get('content-range')?.startsWith(`bytes ${start}-${end - 1}/`)) return
  if (reply.status === 200 && start === 0 && lengthOf(reply) === end) return
  const [, total] = /^bytes \d+-\d+\/(\d+)$/.exec(reply.headers.get('content-range') ?? '') ?? []
  if (reply.status === 416 || Number(total) < end) {
    await discard(reply)
    throw new ServiceError('invalid', `There are no bytes from ${start} to ${end} when ${what}.`)
  }
  if (reply.status !== 200 && reply.status !== 206) throw await refusal(name, reply, what)
  await discard(reply)
  throw new ServiceError('upstream', `${name} gave other bytes than those that were asked for when ${what}.`)
}

/** What the bytes of a stream have to be. */
export interface Expected {
  /** Bytes. */
  readonly size?: number | undefined
  /** Lower-case hex. */
  readonly sha256?: string | undefined
}

/** Passes bytes on, and fails at the end when they are not what they have to be. */
export async function* checked(
  name: string,
  bytes: AsyncIterable<Uint8Array>,
  { size, sha256 }: Expected,
): AsyncGenerator<Uint8Array> {
  const digest = sha256 === undefined ? undefined : createHash('sha256')
  let seen = 0
  for await (const chunk of bytes) {
    seen += chunk.byteLength
    if (size !== undefined && seen > size) break
    digest?.update(chunk)
    yield chunk
  }
  if (size !== undefined && seen !== size)
    throw new ServiceError('upstream', `${name} gave ${seen > size ? 'more' : 'fewer'} than ${size} bytes.`)
  if (digest && digest.digest('hex') !== sha256)
    throw new ServiceError('upstream', `${name} gave bytes that are not those of their SHA-256: the object is damaged.`)
}
