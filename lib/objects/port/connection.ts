import { ServiceError } from '#lib/errors.ts'
import type * as z from 'zod'
import { findMissing } from './provider-settings.ts'
import { getProviderKind, type ProviderType, findProviderType, providerTypes } from './provider-kinds.ts'

/** A catalog of another service, with the credentials for it. */
export interface CatalogService {
  /** Scheme, host and port: `http://catalog.example:3080`. */
  readonly url: string
  readonly username?: string
  readonly password?: string
  readonly apiKey?: string
}

/**
 * A parsed connection string: `provider=minio;host=user:password@catalog:8080;bucket=b;access_key=…`. It has two independent
 * parts: the service of a catalog, and the storage of its packs.
 */
export interface Connection {
  readonly service?: CatalogService
  readonly storage?: Storage
}

/** The storage of packs: its keys as in the connection string, with secret values. */
export interface Storage {
  readonly type: ProviderType
  readonly meta: Readonly<Record<string, string>>
}

const maxLength = 8_192

/** The error of an invalid connection. `why` must not have a value of the connection. */
export const createInvalidConnectionError = (why: string): ServiceError =>
  new ServiceError('invalid', `The connection is not valid: ${why}.`)

const isKey = (text: string): boolean => /^[a-z][a-z0-9_]*$/.test(text)

/** Parses `key=value` pairs; keys ignore case. Errors never carry a value, which may be a secret. */
const parseSegments = (text: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const segment of text.split(';').map(part => part.trim())) {
    if (segment === '') continue
    const at = segment.indexOf('=')
    if (at < 1) throw createInvalidConnectionError('each of its parts, between semicolons, is written as key=value')
    const key = segment.slice(0, at).trim().toLowerCase()
    if (!isKey(key)) throw createInvalidConnectionError('its keys are words of letters, digits and underscores')
    if (found.has(key)) throw createInvalidConnectionError(`it says ${key} twice`)
    found.set(key, segment.slice(at + 1).trim())
  }
  return found
}

/** Leaves out credentials that are empty. */
const toService = (
  url: string,
  { username, password, apiKey }: Partial<Record<'username' | 'password' | 'apiKey', string>>,
): CatalogService => ({
  url,
  ...(username && { username }),
  ...(password && { password }),
  ...(apiKey && { apiKey }),
})

const scheme = /^[a-z][a-z0-9+.-]*:\/\//i

/**
 * Parses `[auth@][scheme://]name[:port]`, or in the order of a URL `[scheme://][auth@]name[:port]`. `auth` is `user:password`,
 * or without a colon an API key.
 */
const parseHost = (text: string, port: string | undefined): CatalogService => {
  // The last @, because a password may have one too.
  const at = text.lastIndexOf('@')
  const [before, serverPart] = at < 0 ? ['', text] : [text.slice(0, at), text.slice(at + 1)]
  // When the name has a scheme, everything before the @ is credentials.
  const [leading = ''] = scheme.test(serverPart) ? [] : (scheme.exec(before) ?? [])
  const auth = before.slice(leading.length)
  const address = scheme.test(serverPart) ? serverPart : `${leading || 'http://'}${serverPart}`
  if (!URL.canParse(address)) throw createInvalidConnectionError('host is not an address')
  const url = new URL(address)
  if (!/^https?:$/.test(url.protocol)) throw createInvalidConnectionError('host is reached by http or https')
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw createInvalidConnectionError('host has no path')
  if (port !== undefined) {
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
      throw createInvalidConnectionError('port is a number up to 65535')
    url.port = port
  }
  const colon = auth.indexOf(':')
  return toService(url.origin, {
    username: colon < 0 ? '' : auth.slice(0, colon),
    password: colon < 0 ? '' : auth.slice(colon + 1),
    apiKey: colon < 0 ? auth : '',
  })
}

const credentialKeys = ['username', 'password', 'api_key'] as const

const parseService = (
  host: string,
  segments: ReadonlyMap<string, string>,
): { service: CatalogService; usedKeys: readonly string[] } => {
  const service = parseHost(host, segments.get('port'))
  // When the host has credentials, those beside it belong to the storage.
  if (service.username !== undefined || service.apiKey !== undefined) return { service, usedKeys: ['host', 'port'] }
  const [username = '', password = '', apiKey = ''] = credentialKeys.map(key => segments.get(key) ?? '')
  return {
    service: toService(service.url, { username, password, apiKey }),
    usedKeys: ['host', 'port', ...credentialKeys],
  }
}

/** Gives the settings of a storage by the schema of its provider. Throws `invalid` for a required one that is missing. */
export const parseSettings = <Schema extends z.ZodType>(schema: Schema, { type, meta }: Storage): z.output<Schema> => {
  const parsed = schema.safeParse(meta)
  if (!parsed.success) throw createInvalidConnectionError(`the provider ${type} needs ${findMissing(parsed.error)}`)
  return parsed.data
}

/** Checks the storage part of a connection. Throws `invalid` for an unknown provider and for a missing required key. */
export const parseStorage = (provider: string, meta: Readonly<Record<string, string>>): Storage => {
  const type = findProviderType(provider)
  if (!type)
    throw createInvalidConnectionError(`there is no provider of this name; choose one of ${providerTypes.join(', ')}`)
  if (Object.entries(meta).some(([key, value]) => !isKey(key) || /[;\p{Cc}]/u.test(value)))
    throw createInvalidConnectionError(
      'its keys are words of letters, digits and underscores, and no value has a semicolon',
    )
  parseSettings(getProviderKind(type).settings, { type, meta })
  return { type, meta }
}

/**
 * Parses a connection string. The grammar has no quoting, so no value has a semicolon. `username`, `password` and `api_key`
 * belong to the host when there is one without credentials, else to the storage. Throws `invalid`, which names keys and never
 * a value.
 */
export const parseConnection = (text: string): Connection => {
  if (text.length > maxLength) throw createInvalidConnectionError(`it has more than ${maxLength} characters`)
  if (/\p{Cc}/u.test(text)) throw createInvalidConnectionError('it has control characters')
  const segments = parseSegments(text)
  const provider = segments.get('provider')
  const host = segments.get('host')
  const { service, usedKeys }: { service?: CatalogService; usedKeys: readonly string[] } =
    host === undefined ? { usedKeys: [] } : parseService(host, segments)
  const meta = Object.fromEntries([...segments].filter(([key]) => key !== 'provider' && !usedKeys.includes(key)))
  if (provider === undefined) {
    if (!service) throw createInvalidConnectionError('it names no provider and no host')
    const [left] = Object.keys(meta)
    if (left !== undefined) throw createInvalidConnectionError(`it says ${left} without a provider`)
    return { service }
  }
  return { ...(service && { service }), storage: parseStorage(provider, meta) }
}

/** Formats the service. Credentials are put into the host when they fit, because those beside it may be the storage's. */
const formatService = ({ url, username, password, apiKey }: CatalogService): [string, string | undefined][] => {
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

/** Formats a connection so that `parseConnection` gives it again. */
export const formatConnection = ({ service, storage }: Connection): string => {
  const parts: readonly (readonly [string, string | undefined])[] = [
    ['provider', storage?.type],
    ...(service ? formatService(service) : []),
    ...Object.entries(storage?.meta ?? {}),
  ]
  return parts.flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`])).join(';')
}

/** Whether an address carries credentials: before its host or in its query. */
const hasCredentials = (value: string): boolean => /@|\?/.test(value)

/** Whether a value only says where a storage is and carries no credentials. */
const isPublicValue = (type: ProviderType, key: string, value: string): boolean =>
  getProviderKind(type).publicKeys.includes(key) && (key === 'catalog_path' || !hasCredentials(value))

/** Gives a connection string without its credentials; undefined for an invalid one. */
export const redactConnection = (text: string): string | undefined => {
  let connection: Connection
  try {
    connection = parseConnection(text)
  } catch {
    return undefined
  }
  const { service, storage } = connection
  const omitSecrets = ({ type, meta }: Storage): Storage => ({
    type,
    meta: Object.fromEntries(Object.entries(meta).filter(([key, value]) => isPublicValue(type, key, value))),
  })
  return formatConnection({
    ...(service && { service: { url: service.url } }),
    ...(storage && { storage: omitSecrets(storage) }),
  })
}

/** Masks a value but its first and last two characters; a short value is masked as a whole. */
const maskValue = (value: string): string => (value.length > 8 ? `${value.slice(0, 2)}****${value.slice(-2)}` : '****')

/** Masks all values of a storage that are not public. */
export const maskStorage = ({ type, meta }: Storage): Storage => ({
  type,
  meta: Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [key, isPublicValue(type, key, value) ? value : maskValue(value)]),
  ),
})

/** Masks a storage that another service has sent. Its type may be unknown; values that are masked already stay. */
export const maskRemoteStorage = (
  name: string,
  meta: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const type = findProviderType(name)
  const isPublic = (key: string, value: string): boolean =>
    value === '' || value.includes('****') || (type !== undefined && isPublicValue(type, key, value))
  return Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [
      key,
      typeof value === 'string' && !isPublic(key, value) ? maskValue(value) : value,
    ]),
  )
}
