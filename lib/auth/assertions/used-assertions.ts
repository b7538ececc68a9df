import { assertionLifetime } from './assertion.ts'

/** Remembers assertions that were used, so that a copy of one cannot make a change. */
export interface UsedAssertions {
  /**
   * Records that a request uses an assertion. Returns false if another request has used it before. One request may use it several
   * times, because several steps of it authenticate.
   */
  use(id: string, request: object): boolean
}

/** The most assertions that are remembered. When there are more, new ones are refused until old ones have expired. */
const maxRemembered = 100_000

export const createUsedAssertions = (clockSkew: number): UsedAssertions => {
  const used = new Map<string, { readonly request: WeakRef<object>; readonly until: number }>()
  const forgetExpired = (): void => {
    // A Map iterates in the order of insertion, which is that of the expiries.
    for (const [id, { until }] of used) {
      if (until > Date.now()) return
      used.delete(id)
    }
  }
  return {
    use(id, request) {
      const first = used.get(id)
      if (first) return first.request.deref() === request
      forgetExpired()
      if (used.size >= maxRemembered) return false
      used.set(id, {
        request: new WeakRef(request),
        until: Date.now() + (assertionLifetime + 2 * clockSkew) * 1000,
      })
      return true
    },
  }
}
