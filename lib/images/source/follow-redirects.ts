import { ServiceError } from '#lib/errors.ts'
import { getHost } from '#lib/platform/outgoing-request.ts'
import type { OpenOutgoing, OpenReply } from '#lib/platform/outgoing.ts'

const maxRedirects = 10
/** Milliseconds that a host has for the headers of its reply. */
const headersTimeout = 60_000

interface Options {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** True if a redirect may lead from https: to http:, because a digest proves the file. */
  readonly mayDowngrade: boolean
}

const toTarget = (from: URL, location: string | undefined, mayDowngrade: boolean): URL => {
  const host = getHost(from)
  if (location === undefined || !URL.canParse(location, from))
    throw new ServiceError('upstream', `The host ${host} redirects without saying where.`)
  const target = new URL(location, from)
  if (target.protocol !== 'https:' && (target.protocol !== 'http:' || (from.protocol === 'https:' && !mayDowngrade)))
    throw new ServiceError(
      'upstream',
      `The host ${host} redirects to ${target.protocol}//, which is not followed${target.protocol === 'http:' ? ' without a sha256' : ''}.`,
    )
  return target
}

/** Opens a request whose headers must come in time; its body may take longer. */
const openInTime = async (open: OpenOutgoing, request: Parameters<OpenOutgoing>[0]): Promise<OpenReply> => {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new DOMException('no headers', 'TimeoutError')), headersTimeout)
  try {
    return await open({ ...request, signal: AbortSignal.any([request.signal, late.signal]) })
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Opens a GET request, and follows redirects. Each address is checked as the first one is. Credentials of the address stay with
 * its host. Throws as `OpenOutgoing`, and `upstream` for redirects that are not followed.
 */
export const openFollowingRedirects = async (
  open: OpenOutgoing,
  first: URL,
  { headers, signal, mayDowngrade }: Options,
): Promise<OpenReply> => {
  let url = first
  for (let redirects = 0; ; redirects += 1) {
    const reply = await openInTime(open, { method: 'GET', url, headers: { Accept: '*/*', ...headers }, signal })
    if (![301, 302, 303, 307, 308].includes(reply.status)) return reply
    reply.close()
    if (redirects === maxRedirects)
      throw new ServiceError('upstream', `The host ${getHost(first)} redirects more than ${maxRedirects} times.`)
    url = toTarget(url, reply.headers.location, mayDowngrade)
  }
}
