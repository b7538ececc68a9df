/** Replaces a stored secret in replies and messages. */
export const mask = '********'

/**
 * Another service with a catalog, and its credentials: an API key, or a user name and a password. Without them the headers of the
 * requests have other ones.
 */
export interface RemoteServer {
  /** The name in messages. */
  readonly name: string
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly api_key?: string | undefined
}
