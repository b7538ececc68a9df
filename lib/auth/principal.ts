export interface Principal {
  readonly id: string
  readonly username: string
  readonly email: string
  readonly roles: readonly string[]
  readonly claims: ReadonlySet<string>
  readonly superUser: boolean
}
