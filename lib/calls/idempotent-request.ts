/** A request with an Idempotency-Key: it must have one effect however often the client sends it. */
export interface IdempotentRequest {
  /** The value of Idempotency-Key. */
  readonly key: string
  /** The caller's id. Equal keys of different callers are independent. */
  readonly caller: string
  readonly operation: string
  /** The parsed request. The same key with another content is refused. */
  readonly content: unknown
  /** The reply holds a secret that is shown once, so it must not be stored. */
  readonly secret: boolean
  /** The work completes what an interrupted first request has begun, so it runs again instead of a refusal. */
  readonly resumable?: boolean
}
