import { ServiceError } from '#lib/errors.ts'
import { isModest } from '../../modest-json.ts'
import type { ObjectStat } from '../provider.ts'
import { textOf } from './body.ts'
import { refusalOf } from './failures.ts'
import type { Reply } from './send.ts'

/** Bytes that are sooner read than a connection is opened again. */
const few = 64 * 1024

export const headerOf = ({ headers }: Pick<Reply, 'headers'>, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** How many bytes a reply says that it has; undefined when it does not say. */
export const lengthOf = (reply: Pick<Reply, 'headers'>): number | undefined => {
  const text = headerOf(reply, 'content-length')
  const length = text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(length) ? length : undefined
}

/** Gives a reply back whose body nobody needs. */
export const discard = (reply: Reply): void => {
  if ((lengthOf(reply) ?? Infinity) <= few) reply.body.resume()
  else if (!reply.body.readableEnded) reply.body.destroy()
}

/** Whether a status says that it is done. */
export const isDone = ({ status }: Reply): boolean => status >= 200 && status < 300

/** What a status that was not hoped for means, in the words of `refusalOf`. */
export const refused = (reply: Reply, what: string): ServiceError => {
  discard(reply)
  const { url, status, headers } = reply
  return refusalOf({ host: url.host, status, headers, what })
}

/** What JSON says; undefined for what is none, or too much of it. */
export const parsed = (text: string): unknown => {
  if (!isModest(Buffer.from(text))) return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Reads a reply in JSON as `textOf` does. */
export const jsonOf = async ({ url, body }: Reply, longest?: number): Promise<unknown> =>
  parsed(await textOf(url.host, body, longest))

/** Bytes of an object, which a storage may say wrongly. Throws `upstream`. */
export const objectSize = (host: string, path: string, size: number | undefined): number => {
  if (size !== undefined && Number.isSafeInteger(size) && size >= 0) return size
  throw new ServiceError('upstream', `The storage ${host} does not say how large ${path} is.`)
}

/** A time as others write it, as that of an object; nothing for what is no time. */
export const modifiedAtOf = (text: string | undefined): Pick<ObjectStat, 'modifiedAt'> => {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? {} : { modifiedAt: new Date(time).toISOString() }
}
