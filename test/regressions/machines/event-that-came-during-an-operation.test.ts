import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canMount, newSmallDisk } from '../../support/disks/small-disk.ts'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'

const left = withoutQemu ? 'QEMU is not installed' : canMount ? undefined : 'this user may not mount a file system'

describe.skipIf(left !== undefined)(left ?? 'what happens to a machine while an operation is under way', () => {
  test('a guest that stops again as soon as it is resumed, for the disk is full, is not shown as running', async () => {
    using disk = newSmallDisk(4)
    await using bench = await openQemuBench({ folder: disk.path })
    const { id, home } = await bench.driver.createDemo()
    // Room for what is noted, and none for what the guest writes: its image grows by 64 KiB at a time.
    disk.fill(48 * 1024)
    await bench.run(id, 'start').catch(() => {})
    const isHalted = { state: 'paused', problem: expect.stringContaining('disk of the host is full') }
    await bench.waitForView(id, isHalted)
    for (let tries = 0; tries < 5; tries += 1) {
      await bench
        .run(id, 'resume')
        .catch((error: unknown) =>
          expect(error).toMatchObject({ fault: 'upstream', message: expect.stringContaining('did not go on') }),
        )
      await bench.waitForView(id, isHalted)
    }
    disk.empty()
    expect(await bench.run(id, 'resume')).toMatchObject({ state: 'running' })
    await bench.nextTick(id)
    expect((await bench.get(id)).problem).toBeUndefined()
    // The first boot was the only one. The full disk may have lost the beginning of what it wrote.
    expect(readFileSync(join(home, 'serial.log'), 'latin1')).not.toContain('BOOT 00000002')
  })
})
