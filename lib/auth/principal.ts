/** Who calls, with all that they may do. */
export interface Principal {
  readonly id: string
  readonly username: string
  readonly email: string
  readonly roles: readonly string[]
  /** Own claims and those of the roles. */
  readonly claims: ReadonlySet<string>
  readonly superUser: boolean
  /** The API key that the caller uses, in place of a password. */
  readonly apiKeyId?: string
}
