/**
 * Lets two go on one step at a time: whenever both wait for their turn, or the one that has not ended does, `choose`
 * says whose it is.
 */
export const createTurns = (choose: () => 0 | 1) => {
  const waiting: [(() => void)[], (() => void)[]] = [[], []]
  const ended = [false, false]

  const next = (): void => {
    if (waiting.some((those, who) => those.length === 0 && !ended[who])) return
    const able = ([0, 1] as const).filter(who => waiting[who].length > 0)
    const who = able.length === 2 ? choose() : able[0]
    if (who === undefined) return
    waiting[who].shift()!()
    // Who does several things at once may go on with another of them.
    setImmediate(next)
  }
  return {
    wait: (who: 0 | 1): Promise<void> =>
      new Promise(resolve => {
        waiting[who].push(resolve)
        next()
      }),
    end(who: 0 | 1): void {
      ended[who] = true
      next()
    },
  }
}
