import { posix } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { readReply } from '#lib/calls/received-reply.ts'
import { explainRequestFailure, getHost } from '#lib/platform/outgoing-request.ts'
import type { OpenOutgoing } from '#lib/platform/outgoing.ts'
import { openFollowingRedirects } from './follow-redirects.ts'

const maxBytes = 1024 * 1024
/** Milliseconds that a host has for such a file. */
const timeout = 30_000

/** A line of sha256sum: the digest and the name, which `*` or a folder may precede; or one in the form of BSD. */
const linePatterns = [
  /^(?<digest>[0-9a-f]{64})[ \t]+\*?(?<name>.+)$/i,
  /^SHA256 \((?<name>.+)\) = (?<digest>[0-9a-f]{64})$/i,
]

/** Returns the SHA-256 that the text of a SHA256SUMS file has for a file name; undefined if it has none. */
export const findChecksum = (text: string, fileName: string): string | undefined => {
  for (const line of text.split(/\r?\n/))
    for (const pattern of linePatterns) {
      const { digest, name } = pattern.exec(line.trim())?.groups ?? {}
      if (digest !== undefined && name !== undefined && posix.basename(name) === fileName) return digest.toLowerCase()
    }
  return undefined
}

/** Returns the last part of the path of a URL. Throws `invalid` when it is no encoded text. */
const readFileName = ({ pathname }: URL): string => {
  try {
    return posix.basename(decodeURIComponent(pathname))
  } catch {
    throw new ServiceError('invalid', 'url: a % of its path is not followed by two hexadecimal digits of UTF-8 text.')
  }
}

/**
 * Fetches a SHA256SUMS file, and returns the SHA-256 that it has for the last part of the path of `url`. Throws `upstream` when
 * it has none, `invalid` for a path that is no encoded text, and as `OpenOutgoing`.
 */
export const fetchChecksum = async (
  open: OpenOutgoing,
  checksumsUrl: URL,
  url: URL,
  signal: AbortSignal,
): Promise<string> => {
  const fileName = readFileName(url)
  const limited = AbortSignal.any([signal, AbortSignal.timeout(timeout)])
  const host = getHost(checksumsUrl)
  // The file proves the image, and nothing proves the file but its connection.
  const reply = await openFollowingRedirects(open, checksumsUrl, { headers: {}, signal: limited, mayDowngrade: false })
  try {
    if (reply.status !== 200)
      throw new ServiceError('upstream', `The host ${host} answered ${reply.status} for the file of checksums.`)
    const text = (await readReply(host, reply.body, maxBytes)).toString('utf8')
    const digest = findChecksum(text, fileName)
    if (digest !== undefined) return digest
    throw new ServiceError('upstream', `The file of checksums of ${host} has no SHA-256 of ${fileName}.`)
  } catch (error) {
    throw explainRequestFailure(checksumsUrl, error, limited)
  } finally {
    reply.close()
  }
}
