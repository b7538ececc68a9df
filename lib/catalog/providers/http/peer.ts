import { isFault, ServiceError } from '#lib/errors.ts'
import { isPassing } from './failures.ts'
import { refused } from './reply.ts'
import { repeat } from './retry.ts'
import type { Fetcher } from './send.ts'
import { watched } from './sent-body.ts'

/**
 * Speaks with the server at `base`, and with those that it names for what it has not itself. Only `base` is shown
 * `credentials`, asked for at each request. Throws a status that may pass as `Passing`.
 */
export const createPeer =
  (base: URL, fetcher: Fetcher, credentials?: () => Readonly<Record<string, string>> | undefined): Fetcher =>
  async ask => {
    const isOwn = ask.url.origin === base.origin
    const headers = { ...ask.headers, ...(isOwn && credentials?.()) }
    const reply = await fetcher({ ...ask, headers }).catch((error: unknown) => {
      if (isOwn || !isFault(error, 'forbidden')) throw error
      throw new ServiceError('upstream', `The storage ${base.host} sends to an address that nobody may be sent to.`)
    })
    if (isPassing(reply.status)) throw refused(reply, 'a request')
    return reply
  }

/** Sends again what may pass, unless it is the body that failed. Only for what may be done twice. */
export const repeating =
  (fetcher: Fetcher): Fetcher =>
  ask => {
    const source = ask.body && watched(ask.body)
    const send = () => fetcher({ ...ask, body: source?.body })
    return repeat(send, ask.signal, () => source?.failure() === undefined)
  }
