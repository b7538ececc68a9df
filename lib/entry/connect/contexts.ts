import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isSystemError, makePrivateFolder, writeFileAtomic } from '#lib/platform/files.ts'

/** A service that somebody has signed in to. */
export interface Context {
  /** Scheme, host and port. */
  readonly url: string
  /** The user who signed in. */
  readonly user?: string
  readonly token?: string
  /** The time at which the token expires (RFC 3339). */
  readonly expires_at?: string
  readonly api_key?: string
  /** The certificate of the service as PEM, if no authority has signed it. Only this one is trusted. */
  readonly certificate?: string
}

/** The contexts by their names, and the one that commands use. */
export interface Contexts {
  readonly current?: string
  readonly contexts: Readonly<Record<string, Context>>
}

/** The name that means the service of this host. No context can have it. */
export const localName = 'local'

const getFile = (): string =>
  join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'vmhost', 'contexts.json')

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Whether a value is a context. It decides whom a token is sent to, so a file that somebody has damaged is not used in part. */
const isContext = (value: unknown): boolean =>
  isRecord(value) &&
  Object.values(value).every(member => typeof member === 'string') &&
  URL.canParse(String(value['url']))

const isContexts = (value: unknown): value is Contexts =>
  isRecord(value) &&
  isRecord(value['contexts']) &&
  Object.values(value['contexts']).every(isContext) &&
  ['string', 'undefined'].includes(typeof value['current'])

/** Reads the contexts of this user. There are none without the file. Throws `internal` for a damaged file. */
export const readContexts = (): Contexts => {
  const file = getFile()
  try {
    const contexts: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isContexts(contexts)) return contexts
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return { contexts: {} }
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new ServiceError('internal', `${file} is damaged. Delete it, and sign in again with \`vmhost login\`.`)
}

/** Writes the contexts to a file that only this user can read, because it has tokens. */
export const writeContexts = async (contexts: Contexts): Promise<void> => {
  const file = getFile()
  await makePrivateFolder(dirname(file))
  await writeFileAtomic(file, JSON.stringify(contexts, undefined, 2), 0o600)
}

/** Adds a context or replaces it, and makes it the current one. */
export const saveContext = async (name: string, context: Context): Promise<void> =>
  writeContexts({ current: name, contexts: { ...readContexts().contexts, [name]: context } })

/** Returns a context by its name. Throws `not-found`. */
export const getContext = (name: string): Context => {
  const { contexts } = readContexts()
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (context) return context
  throw new ServiceError('not-found', `There is no context ${name}; \`vmhost context list\` shows them.`)
}

/** Removes a context. Throws `not-found`. */
export const removeContext = async (name: string): Promise<void> => {
  getContext(name)
  const { current, contexts } = readContexts()
  const { [name]: _removed, ...others } = contexts
  await writeContexts({ contexts: others, ...(current !== undefined && current !== name && { current }) })
}

/** Scheme, host and port of an address; https if it names no scheme. Throws `invalid` for what is none. */
export const toServiceUrl = (address: string): string => {
  const url = URL.parse(address.includes('://') ? address : `https://${address}`)
  if (url && ['http:', 'https:'].includes(url.protocol) && url.host !== '' && !url.username) return url.origin
  throw new ServiceError('invalid', `${address} is not an address of a service; it must be like https://host:8443.`)
}
