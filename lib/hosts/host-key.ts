const toHex = (bytes: Uint8Array): string => [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('')

/** SHA-256 of a secret, in hexadecimal. The secrets of hosts are random and long, so they need no slow hash. */
const hashSecret = async (secret: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))))

/** The key of a host: its id and a secret. The host learns its id from the key. */
interface HostKey {
  readonly hostId: string
  readonly secret: string
}

/** Makes the key of a host, which is shown once, and the hash that is stored. */
export const createHostKey = async (hostId: string): Promise<{ readonly key: string; readonly hash: string }> => {
  const secret = toHex(crypto.getRandomValues(new Uint8Array(32)))
  return { key: `${hostId}.${secret}`, hash: await hashSecret(secret) }
}

/** The form of the key of a host. */
export const hostKeyPattern = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-f]{64})$/

/** Parses the key of a host; undefined when it has another form. */
export const parseHostKey = (key: string): HostKey | undefined => {
  const [, hostId, secret] = hostKeyPattern.exec(key) ?? []
  return hostId !== undefined && secret !== undefined ? { hostId, secret } : undefined
}

/** Whether a secret has this hash. The comparison of digests takes the same time wherever they differ. */
export const matchesSecret = async (secret: string, hash: string): Promise<boolean> => {
  const given = await hashSecret(secret)
  let difference = given.length ^ hash.length
  for (let at = 0; at < given.length; at += 1) difference |= given.charCodeAt(at) ^ hash.charCodeAt(at)
  return difference === 0
}
