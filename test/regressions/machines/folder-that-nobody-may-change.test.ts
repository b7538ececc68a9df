import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { newFolder } from '../../support/folder.ts'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { changeMachine } from '../../support/drivers/change-machine.ts'

const chattr = (flag: '+i' | '-i', path: string): void => void execFileSync('chattr', [flag, path], { stdio: 'ignore' })

const canLock = ((): boolean => {
  using folder = newFolder()
  try {
    chattr('+i', folder.path)
    chattr('-i', folder.path)
    return true
  } catch {
    return false
  }
})()
const left = withoutQemu ? 'QEMU is not installed' : canLock ? undefined : 'this user may not make a folder immutable'

describe.skipIf(left !== undefined)(left ?? 'a machine whose folder the system lets nobody change', () => {
  test('is told as such, stays as it was, and can be ended and go on', async () => {
    await using bench = await openQemuBench()
    const { id, home } = await bench.create('one')
    const refuses = (work: Promise<unknown>): Promise<void> =>
      expect(work).rejects.toMatchObject({ fault: 'unavailable', message: expect.stringContaining('attributes') })
    await bench.run(id, 'start')
    await bench.nextTick(id)
    chattr('+i', home)
    try {
      for (const verb of ['pause', 'suspend', 'reset'] as const) await refuses(bench.run(id, verb))
      expect(await bench.get(id)).toMatchObject({ state: 'running' })
      await bench.nextTick(id)
      await refuses(changeMachine(bench.driver, id, { description: 'new' }))
      expect(await bench.run(id, 'resume')).toMatchObject({ state: 'running' })
      expect(await bench.run(id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
      await refuses(bench.run(id, 'start'))
      await refuses(bench.driver.remove(id))
      expect(await bench.get(id)).toMatchObject({ state: 'stopped' })
      await bench.close()
      await bench.open()
      expect(await bench.get(id)).toMatchObject({ name: 'one' })
    } finally {
      chattr('-i', home)
    }
    await bench.run(id, 'start')
    await bench.nextTick(id)
  })
})
