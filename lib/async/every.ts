/**
 * Runs work about every so many milliseconds, until disposed. A program that sleeps while nobody calls it runs what is due
 * when it wakes, so the work may run late, and it must be possible to call it at any time. No reply may depend on it.
 */
export type Every = (milliseconds: number, work: () => void) => Disposable

/** Repeats work with a timer of this process. The timer does not keep the process alive. */
export const every: Every = (milliseconds, work) => {
  const timer = setInterval(work, milliseconds)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
