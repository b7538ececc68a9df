import type { ApiKeys } from './auth/api-keys.ts'
import type { SignIn } from './auth/sign-in.ts'
import type { Tokens } from './auth/tokens.ts'
import type { Health } from './health/health.ts'
import type { Document } from './http/openapi.ts'
import type { License } from './license/license.ts'
import type { Machines } from './machines/machines.ts'

/** Everything that handlers draw from; each names in its contract what it uses. `lib/entry` makes them. */
export interface Services {
  readonly signIn: SignIn
  readonly tokens: Pick<Tokens, 'verify'>
  readonly apiKeys: ApiKeys
  readonly machines: Machines
  readonly license: License
  readonly health: Health
  readonly openapi: Document
}
