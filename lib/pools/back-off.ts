/** Says when something that has failed is tried again: less and less often. */
export interface BackOff {
  /** Whether it is too early for another try. */
  isEarly(id: string): boolean
  fail(id: string): void
  /** Forgets the failures. */
  clear(id: string): void
}

/** Milliseconds before the second try, and the most before a later one. */
const [first, longest] = [1_000, 5 * 60_000]

export const createBackOff = (): BackOff => {
  const failures = new Map<string, { readonly at: number; readonly interval: number }>()
  return {
    isEarly: id => Date.now() < (failures.get(id)?.at ?? 0),
    fail(id) {
      const interval = Math.min((failures.get(id)?.interval ?? first / 2) * 2, longest)
      failures.set(id, { at: Date.now() + interval, interval })
    },
    clear: id => void failures.delete(id),
  }
}
