import { renameSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { until } from '../../support/waiting.ts'
import { changeMachine } from '../../support/drivers/change-machine.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'a machine whose folder was moved away', () => {
  test('goes on, says what is missing, and is ended by force; back in its place it is as before', async () => {
    await using bench = await openQemuBench()
    const { id, home } = await bench.create('one')
    await bench.run(id, 'start')
    await bench.nextTick(id)
    const pid = await bench.pid(id)
    const elsewhere = `${bench.folder}/elsewhere`
    renameSync(home, elsewhere)
    for (const verb of ['pause', 'suspend', 'restart'] as const)
      await expect(bench.run(id, verb)).rejects.toMatchObject({
        fault: 'conflict',
        message: expect.stringContaining(`The folder of the machine is missing: ${home}`),
      })
    await expect(changeMachine(bench.driver, id, { description: 'x' })).rejects.toMatchObject({ fault: 'conflict' })
    expect(await bench.get(id)).toMatchObject({ state: 'running' })
    expect(() => process.kill(pid, 0)).not.toThrow()
    expect(await bench.run(id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
    await until(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))
    renameSync(elsewhere, home)
    await bench.run(id, 'start')
    await bench.nextTick(id)
  })

  test('can be deleted: nothing of it is left here', async () => {
    await using bench = await openQemuBench()
    const { id, home } = await bench.create('one')
    renameSync(home, `${bench.folder}/elsewhere`)
    await bench.driver.remove(id)
    expect(await bench.driver.list()).toEqual([])
  })
})
