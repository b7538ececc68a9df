import { describe, expect, test } from 'vitest'
import { installFakeQemu, type Behaviour, setBehaviour } from '../../support/drivers/fake-qemu.ts'
import { newFolder } from '../../support/folder.ts'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { until } from '../../support/waiting.ts'

const reasons: Readonly<Partial<Record<Behaviour, RegExp>>> = {
  'no JSON': /no message of its protocol/,
  'wrong shape': /no message of its protocol/,
  'wrong answer': /answer to query-status/,
  'half a line': /in the middle of a message/,
  'endless line': /a line of more than 1048576 characters/,
}

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'a QEMU that sends invalid QMP messages', () => {
  test.for(Object.entries(reasons))(
    '%s: is shown as a problem of its machine, now and after each start',
    async ([mood, reason]) => {
      using programs = newFolder()
      await using bench = await openQemuBench({ program: await installFakeQemu(programs.path) })
      const [bad, good] = [await bench.create('bad'), await bench.create('good')]
      for (const { id } of [bad, good]) await bench.run(id, 'start')
      setBehaviour(bad.home, mood as Behaviour)
      await bench.run(bad.id, 'reset').catch(() => {})
      const pid = await bench.pid(bad.id)
      const isProblem = { state: 'running', problem: expect.stringMatching(reason) }
      await bench.waitForView(bad.id, isProblem)

      await bench.close()
      await bench.open()
      await bench.waitForView(bad.id, isProblem)
      expect(await bench.run(good.id, 'pause')).toMatchObject({ state: 'paused' })
      expect(() => process.kill(pid, 0)).not.toThrow()

      setBehaviour(bad.home, 'well')
      await bench.waitForView(bad.id, { state: 'running' })
      setBehaviour(bad.home, mood as Behaviour)
      expect(await bench.run(bad.id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
      await until(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))
    },
  )
  test('the problem describes the current error, also after another start', async () => {
    using programs = newFolder()
    await using bench = await openQemuBench({ program: await installFakeQemu(programs.path) })
    const { id, home } = await bench.create('bad')
    await bench.run(id, 'start')
    const says = (mood: Behaviour): Promise<void> =>
      bench.waitForView(id, { state: 'running', problem: expect.stringMatching(reasons[mood]!) })
    setBehaviour(home, 'no JSON')
    await bench.run(id, 'reset').catch(() => {})
    await says('no JSON')
    setBehaviour(home, 'wrong answer')
    await says('wrong answer')
    await bench.close()
    setBehaviour(home, 'endless line')
    await bench.open()
    await says('endless line')
  })
})
