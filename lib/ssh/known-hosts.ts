import { createHmac, timingSafeEqual } from 'node:crypto'

/** A line of a known_hosts file (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"). */
interface KnownHostsEntry {
  readonly line: number
  readonly marker: string | undefined
  readonly hosts: string
  readonly type: string
  readonly key: Buffer
}

/** A key of a host in a known_hosts file. */
export interface KnownKey {
  readonly line: number
  readonly isRevoked: boolean
  readonly type: string
  readonly key: Buffer
}

const parseEntries = (text: string): readonly KnownHostsEntry[] =>
  text.split('\n').flatMap((line, at) => {
    const fields = line.trim().split(/\s+/)
    const marker = fields[0]?.startsWith('@') ? fields.shift() : undefined
    const [hosts = '', type = '', key = ''] = fields
    // Other programs write to this file too, so a line that cannot be parsed is ignored.
    return hosts === '' || hosts.startsWith('#') || key === ''
      ? []
      : [{ line: at + 1, marker, hosts, type, key: Buffer.from(key, 'base64') }]
  })

const matchesHash = (pattern: string, name: string): boolean => {
  const [, , salt = '', hash = ''] = pattern.split('|')
  const expected = Buffer.from(hash, 'base64')
  // The format requires SHA-1. It hides the names from readers of the file and protects nothing here.
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest()
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

const matchesPattern = (pattern: string, name: string): boolean =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'i',
  ).test(name)

const matchesHosts = (hosts: string, name: string): boolean => {
  if (hosts.startsWith('|1|')) return matchesHash(hosts, name)
  const patterns = hosts.split(',')
  const excluded = patterns.filter(pattern => pattern.startsWith('!')).map(pattern => pattern.slice(1))
  return (
    !excluded.some(pattern => matchesPattern(pattern, name)) &&
    patterns.some(pattern => !pattern.startsWith('!') && matchesPattern(pattern, name))
  )
}

/** Returns the name of a host in a known_hosts file. */
export const formatHostName = (host: string, port: number): string => {
  const name = host.toLowerCase()
  return port === 22 ? name : `[${name}]:${port}`
}

/** Finds the keys of a host in the text of a known_hosts file, without those of certificate authorities. */
export const findHostKeys = (text: string, name: string): readonly KnownKey[] =>
  parseEntries(text)
    .filter(({ hosts, marker }) => marker !== '@cert-authority' && matchesHosts(hosts, name))
    .map(({ line, marker, type, key }) => ({ line, isRevoked: marker === '@revoked', type, key }))
