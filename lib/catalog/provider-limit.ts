import { createTimeLimit, type TimeLimit } from '#lib/async/time-limit.ts'

/** Milliseconds that a provider has for what a request wants of it, in which nobody else can change the manifest. */
const limit = 10 * 60_000

/** The limit for what is asked of a provider within a manifest's turn. */
export const limitProvider = (signal?: AbortSignal): TimeLimit =>
  createTimeLimit(
    limit,
    `The provider has not done what was asked of it within ${limit / 60_000} minutes. Try again when it is faster.`,
    signal,
  )
