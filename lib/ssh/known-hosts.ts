import { createHmac, timingSafeEqual } from 'node:crypto'

/** A line of a known_hosts file (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"). */
interface Entry {
  readonly line: number
  readonly marker: string | undefined
  readonly hosts: string
  readonly type: string
  readonly key: Buffer
}

/** What a file says of one host. */
export interface KnownKey {
  readonly line: number
  readonly revoked: boolean
  readonly type: string
  readonly key: Buffer
}

const parse = (text: string): readonly Entry[] =>
  text.split('\n').flatMap((line, at) => {
    const parts = line.trim().split(/\s+/)
    const marker = parts[0]?.startsWith('@') ? parts.shift() : undefined
    const [hosts = '', type = '', key = ''] = parts
    // What cannot be read is somebody else's: it is left alone.
    return hosts === '' || hosts.startsWith('#') || key === ''
      ? []
      : [{ line: at + 1, marker, hosts, type, key: Buffer.from(key, 'base64') }]
  })

const hashedMatches = (pattern: string, name: string): boolean => {
  const [, , salt = '', hash = ''] = pattern.split('|')
  const expected = Buffer.from(hash, 'base64')
  // SHA-1 is the format's; it hides names from readers of the file and protects nothing here.
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest()
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

const globMatches = (pattern: string, name: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'i',
  ).test(name)

const matches = (hosts: string, name: string): boolean => {
  if (hosts.startsWith('|1|')) return hashedMatches(hosts, name)
  const patterns = hosts.split(',')
  const negated = patterns.filter(pattern => pattern.startsWith('!')).map(pattern => pattern.slice(1))
  return (
    !negated.some(pattern => globMatches(pattern, name)) &&
    patterns.some(pattern => !pattern.startsWith('!') && globMatches(pattern, name))
  )
}

/** A host as such a file names it. */
export const knownName = (host: string, port: number): string => {
  const name = host.toLowerCase()
  return port === 22 ? name : `[${name}]:${port}`
}

/** The keys that a file's text knows of a host; those of certificate authorities are left out. */
export const keysOf = (text: string, name: string): readonly KnownKey[] =>
  parse(text)
    .filter(({ hosts, marker }) => marker !== '@cert-authority' && matches(hosts, name))
    .map(({ line, marker, type, key }) => ({ line, revoked: marker === '@revoked', type, key }))
