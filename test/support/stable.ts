/** Values that differ from run to run, by the name of their member: what stands for them in an example. */
const byName: Readonly<Record<string, unknown>> = {
  token: 'eyJhbGciOiJSUzI1NiJ9.eyJ1aWQiOiI…',
  ticket: 'UdWb0jvJf9PIQ6NqBGMvJtVhmEhyA4e0SInOiHIuZAY',
  fragment: '#/link/UdWb0jvJf9PIQ6NqBGMvJtVhmEhyA4e0SInOiHIuZAY',
  encoded: 'a2V5OnNlY3JldA==',
  api_key: 'a2V5OnNlY3JldA==',
  expires_at: 1767323045,
  n: 'sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri23bOdgWp4Dy1Wl…',
  kid: 'f2a1c0d4e5b60718',
  uptime: '1h2m3s',
  cpu_total: 8,
  max_memory: 16384,
  port: 22,
  host: 'host-1',
  host_id: '00000000-0000-4000-8000-0000000000ff',
  cursor: '5c1f0b2e-18',
  since: '5c1f0b2e-12',
}

const time = '2026-01-02T03:04:05.000Z'
const sha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** Replaces what differs from run to run. `known`: texts of this run and what stands for them, such as its folder. */
export const createStable = (known: Readonly<Record<string, string>>) => {
  const uuids = new Map<string, string>()
  const uuidOf = (uuid: string): string => {
    const number = (uuids.size + 1).toString(16).padStart(12, '0')
    return uuids.getOrInsert(uuid, `00000000-0000-4000-8000-${number}`)
  }
  const textOf = (text: string): string =>
    Object.entries(known)
      .reduce((left, [from, to]) => left.replaceAll(from, to), text)
      .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, uuidOf)
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, time)
      .replaceAll(/\b[0-9a-f]{64}\b/g, sha256)
      .replaceAll(/\b[0-9A-F]{24}\b/g, 'E022D75D7DEDC267C3B391D6')
      .replaceAll(/\b[0-9a-f]{8}-(\d+)(?![\w-])/g, '5c1f0b2e-$1')
      .replaceAll(/^[\w-]{43}$/g, 'UdWb0jvJf9PIQ6NqBGMvJtVhmEhyA4e0SInOiHIuZAY')
      .replaceAll(/\b525400[0-9A-F]{6}\b/g, '525400ABCDEF')
  const stable = (value: unknown, name = ''): unknown => {
    if (Array.isArray(value)) return value.slice(0, 3).map(item => stable(item, name))
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, stable(member, key)]))
    if (name in byName && typeof value === typeof byName[name]) return byName[name]
    return typeof value === 'string' ? textOf(value) : value
  }
  return stable
}

/** What of a value is the same in every run: its members and their types; of a list its first item. */
export const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, shapeOf(member)]),
  )
}
