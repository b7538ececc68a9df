import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Area } from './case.ts'
import { compareReplies, type MaskedReply } from './difference.ts'
import { createPlayer, type Player } from './player.ts'
import { listRuntimes } from './runtimes/all.ts'
import { findAbsence, openSurroundings } from './surroundings.ts'

/** Whether a case succeeds and looks at what it has changed. */
export const hasSeenEffect = ({ status, effects = [] }: Area['cases'][number]): boolean =>
  status < 300 && effects.length > 0

/**
 * Declares the tests of an area: each case over each runtime, in order, with a fresh state for each runtime. The replies of
 * Node are what those of the others have to equal, but for declared differences.
 */
export const conform = (area: Area): void => {
  const onNode: (readonly MaskedReply[])[] = []
  for (const runtime of listRuntimes(area)) {
    const absence = area.leftOut?.[runtime.name] ?? (runtime.absence || findAbsence(area.needs))
    const title = `${area.name} over ${runtime.name}`
    // An absent runtime is one skipped test, not one for each case.
    const cases = absence === '' ? area.cases : area.cases.slice(0, 1)
    describe.skipIf(absence !== '')(absence === '' ? title : `${title}: left out, ${absence}`, () => {
      const open = new AsyncDisposableStack()
      let player: Player
      const passed = { cases: 0, effects: 0, differences: 0 }
      beforeAll(async () => {
        const surroundings = open.use(await openSurroundings(area.needs))
        const running = open.use(await runtime.start({ withHost: area.withHost === true, driver: area.driver }))
        player = open.use(await createPlayer(area, running, surroundings))
      })
      afterAll(async () => {
        await open.disposeAsync()
        const { cases, effects, differences } = passed
        console.log(
          `${title}: ${cases} cases, ${effects} of them with an effect, ${differences} with a declared difference of their own`,
        )
      })

      test.each(cases.map((one, index) => ({ ...one, index })))('$name', async ({ index, ...one }) => {
        const own = runtime.name === 'node' ? undefined : one.differs?.[runtime.name]
        const { faults, replies } = await player.play({ ...one, status: own?.status ?? one.status })
        expect(faults).toEqual([])
        if (runtime.name === 'node' || area.leftOut?.node !== undefined) onNode[index] = replies
        else expect(compareReplies(runtime.name, one, onNode[index] ?? [], replies)).toEqual([])
        passed.cases += 1
        passed.effects += hasSeenEffect(one) ? 1 : 0
        passed.differences += own ? 1 : 0
      })
    })
  }
}
