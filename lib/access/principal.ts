/** The user that a request acts as, with all rights. */
export interface Principal {
  readonly id: string
  readonly username: string
  readonly email: string
  readonly roles: readonly string[]
  /** The claims held directly and through roles. */
  readonly claims: ReadonlySet<string>
  readonly superUser: boolean
  /** The API key that the request was authenticated with; its rights may be narrower than the user's. */
  readonly apiKeyId?: string
  /** The service that has signed in the user and speaks for the user here. Undefined for a user of this service. */
  readonly issuer?: string
  /** Id of the assertion with which the issuer speaks for the user in this request. */
  readonly assertion?: string
  /** SHA-256 (lower-case hex) of the body that the issuer has signed with its statement about the user. */
  readonly bodyDigest?: string
}
