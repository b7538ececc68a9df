import { describe, expect, test } from 'vitest'
import { forkInKilledService, forkTo, removeForks, startCounting } from '../../support/drivers/fork-bench.ts'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { readSerialLog } from '../../support/guests/serial.ts'
import { until } from '../../support/waiting.ts'

// QEMU names an image by all of its options when its layers are not those that its header names. The service did not find the file in
// them after a kill, so the next start of the machine had a disk without what the guest had written since.
describe.skipIf(withoutQemu)(
  withoutQemu ? 'QEMU is not installed' : 'a service that is killed between two names of a disk',
  () => {
    test('has the disk that the guest writes to after its next start', async () => {
      await using bench = await openQemuBench()
      const { id } = await startCounting(bench)
      // Some layers are merged meanwhile.
      for (const name of ['one', 'two', 'three', 'four']) await forkTo(bench, id, [name])
      await removeForks(bench)
      await bench.close()
      // The overlay is in use and gets the name of the disk now.
      expect(await forkInKilledService(bench, id, '^rename .*/disk0.qcow2$')).toMatchObject({ signal: 'SIGKILL' })
      await bench.open()
      await bench.waitForView(id, { state: 'running' })
      const hasBooted = (count: number) =>
        until(async () => expect(await readSerialLog(await bench.get(id))).toContain(`BOOT 0000000${count}`))
      // The guest counts its boots on its disk.
      await bench.run(id, 'reset')
      await hasBooted(2)
      await bench.run(id, 'stop', { force: true })
      await bench.run(id, 'start')
      await hasBooted(3)
    })
  },
)
