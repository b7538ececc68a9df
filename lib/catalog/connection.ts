import { ServiceError } from '#lib/errors.ts'
import { kindOf, type ProviderType, providerTypeOf, providerTypes } from './provider-types.ts'

/** A catalog on another service, with what opens it. */
export interface CatalogService {
  /** Scheme, host and port: `http://catalog.example:3080`. */
  readonly url: string
  readonly username?: string
  readonly password?: string
  readonly apiKey?: string
}

/**
 * What a connection string says: `provider=minio;host=user:password@catalog:8080;bucket=b;access_key=…`. Its two parts
 * stand for themselves: the catalog's service, and the storage of its packs.
 */
export interface Connection {
  readonly service?: CatalogService
  readonly storage?: Storage
}

/** Where packs are: keys as they were written, values with their secrets. */
export interface Storage {
  readonly type: ProviderType
  readonly meta: Readonly<Record<string, string>>
}

const longest = 8_192

/** A connection that is refused, and why. */
export const bad = (why: string): ServiceError => new ServiceError('invalid', `The connection is not valid: ${why}.`)

const isKey = (text: string): boolean => /^[a-z][a-z0-9_]*$/.test(text)

/** The values of a text by their keys, which are told apart in any case. Nothing of a value is ever in an error. */
const segmentsOf = (text: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const segment of text.split(';').map(part => part.trim())) {
    if (segment === '') continue
    const at = segment.indexOf('=')
    if (at < 1) throw bad('each of its parts, between semicolons, is written as key=value')
    const key = segment.slice(0, at).trim().toLowerCase()
    if (!isKey(key)) throw bad('its keys are words of letters, digits and underscores')
    if (found.has(key)) throw bad(`it says ${key} twice`)
    found.set(key, segment.slice(at + 1).trim())
  }
  return found
}

const withoutEmpty = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== '')) as T

/** `[auth@][scheme://]name[:port]`: auth is `user:password`, or without a colon an API key. */
const readHost = (text: string, port: string | undefined): CatalogService => {
  // The last one: a password may have it too.
  const at = text.lastIndexOf('@')
  const [auth, place] = at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + 1)]
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(place) ? place : `http://${place}`
  if (!URL.canParse(address)) throw bad('host is not an address')
  const url = new URL(address)
  if (!/^https?:$/.test(url.protocol)) throw bad('host is reached by http or https')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') throw bad('host has no path')
  if (port !== undefined) {
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw bad('port is a number up to 65535')
    url.port = port
  }
  const colon = auth.indexOf(':')
  return withoutEmpty({
    url: url.origin,
    username: colon < 0 ? '' : auth.slice(0, colon),
    password: colon < 0 ? '' : auth.slice(colon + 1),
    apiKey: colon < 0 ? auth : '',
  })
}

const credentialKeys = ['username', 'password', 'api_key'] as const

const readService = (segments: ReadonlyMap<string, string>): { service: CatalogService; taken: readonly string[] } => {
  const service = readHost(segments.get('host')!, segments.get('port'))
  // Beside a host that has them already they are the storage's.
  if (service.username !== undefined || service.apiKey !== undefined) return { service, taken: ['host', 'port'] }
  const [username, password, apiKey] = credentialKeys.map(key => segments.get(key) ?? '')
  return {
    service: withoutEmpty({ ...service, username, password, apiKey }) as CatalogService,
    taken: ['host', 'port', ...credentialKeys],
  }
}

/** The storage part, complete. Throws `invalid` for an unknown provider and for a key that it needs and that is missing. */
export const storageFrom = (provider: string, meta: Readonly<Record<string, string>>): Storage => {
  const type = providerTypeOf(provider)
  if (!type) throw bad(`there is no provider of this name; choose one of ${providerTypes.join(', ')}`)
  if (Object.entries(meta).some(([key, value]) => !isKey(key) || /[;\p{Cc}]/u.test(value)))
    throw bad('its keys are words of letters, digits and underscores, and no value has a semicolon')
  const missing = kindOf(type).missing(meta)
  if (missing !== undefined) throw bad(`the provider ${type} needs ${missing}`)
  return { type, meta }
}

/**
 * Reads a connection string (grammar of the wire: no quoting, so no value has a semicolon). The user name, the password
 * and the key are the host's, where there is one without them; else they are the storage's. Throws `invalid`, which
 * names keys and never a value.
 */
export const parseConnection = (text: string): Connection => {
  if (text.length > longest) throw bad(`it has more than ${longest} characters`)
  if (/\p{Cc}/u.test(text)) throw bad('it has control characters')
  const segments = segmentsOf(text)
  const provider = segments.get('provider')
  if (provider === undefined && !segments.has('host')) throw bad('it names no provider and no host')
  const { service, taken }: { service?: CatalogService; taken: readonly string[] } = segments.has('host')
    ? readService(segments)
    : { taken: [] }
  const meta = Object.fromEntries([...segments].filter(([key]) => key !== 'provider' && !taken.includes(key)))
  if (provider === undefined) {
    const [left] = Object.keys(meta)
    if (left !== undefined) throw bad(`it says ${left} without a provider`)
    return { service: service! }
  }
  return { ...(service && { service }), storage: storageFrom(provider, meta) }
}

/** With the credentials in the host where they fit: what stands beside it may be the storage's. */
const servicePart = ({ url, username, password, apiKey }: CatalogService): [string, string | undefined][] => {
  if (username !== undefined && !username.includes(':') && apiKey === undefined)
    return [['host', `${username}:${password ?? ''}@${url}`]]
  if (apiKey !== undefined && !apiKey.includes(':') && username === undefined && password === undefined)
    return [['host', `${apiKey}@${url}`]]
  return [
    ['host', url],
    ['username', username],
    ['password', password],
    ['api_key', apiKey],
  ]
}

/** Writes what `parseConnection` reads; it reads the same again. */
export const printConnection = ({ service, storage }: Connection): string => {
  const parts: readonly (readonly [string, string | undefined])[] = [
    ['provider', storage?.type],
    ...(service ? servicePart(service) : []),
    ...Object.entries(storage?.meta ?? {}),
  ]
  return parts.flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`])).join(';')
}

/** An address with what opens it, in front of its host or behind it. */
const hasCredentials = (value: string): boolean => /@|\?/.test(value)

/** Whether a value of a storage says where it is, and nothing that opens it. */
const isShown = (type: ProviderType, key: string, value: string): boolean =>
  kindOf(type).shown.includes(key) && (key === 'catalog_path' || !hasCredentials(value))

/** Where a text leads that is a connection, without what opens it; undefined for one that leads nowhere. */
export const connectionPlace = (text: string): string | undefined => {
  let connection: Connection
  try {
    connection = parseConnection(text)
  } catch {
    return undefined
  }
  const { service, storage } = connection
  const shown = ({ type, meta }: Storage): Storage => ({
    type,
    meta: Object.fromEntries(Object.entries(meta).filter(([key, value]) => isShown(type, key, value))),
  })
  return printConnection({
    ...(service && { service: { url: service.url } }),
    ...(storage && { storage: shown(storage) }),
  })
}

/** The first and the last two characters of a value; all of a short one is hidden. */
const masked = (value: string): string => (value.length > 8 ? `${value.slice(0, 2)}****${value.slice(-2)}` : '****')

/** As it may be shown: of the storage only that which says where it is. */
export const maskStorage = ({ type, meta }: Storage): Storage => ({
  type,
  meta: Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [key, isShown(type, key, value) ? value : masked(value)]),
  ),
})

/** The same of what another service says of its storage, of which the type may be unknown; what it has masked stays. */
export const maskStorageOf = (
  name: string,
  meta: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const type = providerTypeOf(name)
  const isOpen = (key: string, value: string): boolean =>
    value === '' || value.includes('****') || (type !== undefined && isShown(type, key, value))
  return Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [
      key,
      typeof value === 'string' && !isOpen(key, value) ? masked(value) : value,
    ]),
  )
}
