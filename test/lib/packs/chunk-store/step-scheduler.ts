/**
 * Runs two actors one step at a time. When both wait for a step, or one waits and the other has ended, it lets one of them
 * continue; `choose` decides which.
 */
export const createStepScheduler = (choose: () => 0 | 1) => {
  const waiting: [(() => void)[], (() => void)[]] = [[], []]
  const hasEnded = [false, false]

  const runNext = (): void => {
    if (waiting.some((steps, actor) => steps.length === 0 && !hasEnded[actor])) return
    const ready = ([0, 1] as const).filter(actor => waiting[actor].length > 0)
    const actor = ready.length === 2 ? choose() : ready[0]
    if (actor === undefined) return
    waiting[actor].shift()!()
    // An actor that does several things at the same time may continue with another of them.
    setImmediate(runNext)
  }
  return {
    wait: (actor: 0 | 1): Promise<void> =>
      new Promise(resolve => {
        waiting[actor].push(resolve)
        runNext()
      }),
    end(actor: 0 | 1): void {
      hasEnded[actor] = true
      runNext()
    },
  }
}
