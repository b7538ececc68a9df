import { ServiceError } from '#lib/errors.ts'
import { type Context, getContext, localName, readContexts, toServiceUrl } from './contexts.ts'

/** The options of a command that select its service, and those that are settings. */
export interface TargetOptions {
  readonly host?: string
  readonly context?: string
  readonly state?: string
  readonly config?: string
  readonly [setting: string]: unknown
}

const findByUrl = (address: string): Context => {
  const url = toServiceUrl(address)
  const found = Object.values(readContexts().contexts).find(context => context.url === url)
  if (found) return found
  throw new ServiceError('unauthenticated', `Nobody has signed in to ${url}. Sign in with \`vmhost login ${url}\`.`)
}

/**
 * Returns the context of `--host` or `--context`; else none where a state folder is named, and then the current context. Without a
 * context the service is that of this host. Throws `invalid`, `not-found` and `unauthenticated`.
 */
export const selectTarget = ({ host, context, state, config }: TargetOptions): Context | undefined => {
  if (host !== undefined && context !== undefined)
    throw new ServiceError('invalid', 'Name the service with --host or with --context, not with both.')
  if (host !== undefined) return findByUrl(host)
  if (context !== undefined) return context === localName ? undefined : getContext(context)
  if (state !== undefined || config !== undefined || process.env['VMHOST_STATE']) return undefined
  const { current } = readContexts()
  return current === undefined ? undefined : getContext(current)
}
