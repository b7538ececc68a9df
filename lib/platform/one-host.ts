import type { IncomingMessage } from 'node:http'

/**
 * The refusal of a request that names two hosts (RFC 9112, 3.2): a proxy before the service may have gone by the other one.
 * Node keeps the first and tells of no second; one that is missing is refused where every bad address is.
 */
export const refuseSecondHost = ({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): Response | undefined => {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
    ? Response.json(
        { code: 400, message: 'This request has more than one Host header.' },
        { status: 400, headers: { Connection: 'close' } },
      )
    : undefined
}
