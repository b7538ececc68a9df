import { createTimeLimit, type TimeLimit } from '#lib/async/time-limit.ts'

/** Milliseconds that a provider has for one request, while nobody else can change the manifest. */
const providerTimeout = 10 * 60_000

/** Makes the time limit for calls of a provider that hold the lock of a manifest. */
export const createProviderTimeLimit = (signal?: AbortSignal): TimeLimit =>
  createTimeLimit(
    providerTimeout,
    `The provider has not finished within ${providerTimeout / 60_000} minutes. Try again when it is faster.`,
    signal,
  )
