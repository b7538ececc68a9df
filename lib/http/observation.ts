import type { Principal } from '#lib/auth/principal.ts'

/** What the application tells of each request that it answered. */
export interface Observation {
  readonly requestId: string
  readonly method: string
  /** The route's id, or undefined where no route was reached. */
  readonly operation: string | undefined
  readonly caller: Principal | undefined
  readonly address: string
  readonly status: number
  /** From the request to its reply. */
  readonly milliseconds: number
  /** What was thrown, if anything was. */
  readonly error: unknown
}

/** A call that could change something, or that was refused, as the audit is told of it. */
export interface Action {
  readonly requestId: string
  readonly method: string
  readonly operation: string
  readonly caller: Pick<Principal, 'id' | 'username' | 'apiKeyId'> | undefined
  readonly address: string
  /** The parameters of the path. */
  readonly target: Record<string, string> | undefined
  /** What the contract lets be told of the body. */
  readonly details: Record<string, unknown> | undefined
  /** The id of what the call made. */
  readonly created: string | undefined
  readonly status: number
  readonly error: unknown
}
