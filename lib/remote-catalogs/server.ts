/** What stands in replies and messages for a secret that is kept. */
export const mask = '********'

/** Another service that has a catalog, with what it lets in: an API key, or a user name and a password. */
export interface RemoteServer {
  /** What people know it by. */
  readonly name: string
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly api_key?: string | undefined
}
