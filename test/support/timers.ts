import { vi } from 'vitest'

/** Notes how many milliseconds timers wait from now on, and ends those at once that would wait for seconds. */
export const shortenTimers = (): { readonly waits: readonly number[] } & Disposable => {
  const waits: number[] = []
  const { setTimeout: begin } = globalThis
  const shortened = (work: () => void, wait = 0, ...more: []): NodeJS.Timeout => {
    waits.push(wait)
    return begin(work, wait >= 1_000 && wait < 10_000 ? 0 : wait, ...more)
  }
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(shortened)
  return { waits, [Symbol.dispose]: () => spy.mockRestore() }
}
