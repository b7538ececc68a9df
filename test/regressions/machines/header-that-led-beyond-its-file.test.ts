import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { newFolder } from '../../support/folder.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'

/** Fields of a qcow2 header: where they are, how long they are, what is written there. */
const changes: Readonly<Record<string, readonly (readonly [at: number, bytes: 4 | 8, value: bigint])[]>> = {
  'the first table beyond 2^63': [[40, 8, 2n ** 63n + 65_536n]],
  'the first table at the end of all numbers': [[40, 8, 2n ** 64n - 1n]],
  'the first table beyond the end': [[40, 8, 2n ** 40n]],
  'a first table that is longer than QEMU reads': [[36, 4, 2n ** 32n - 1n]],
  'the name of its backing file beyond 2^63': [
    [8, 8, 2n ** 63n + 512n],
    [16, 4, 20n],
  ],
}

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'a disk whose header names', () => {
  test.for(Object.keys(changes))(
    '%s is refused to be started and cloned, and its machine stays as it is',
    async what => {
      using folder = newFolder()
      const driver = await createQemu(join(folder.path, 'machines'))
      await driver.open(() => {})
      const made = await driver.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }] })
      const disk = join(made.home, 'disk0.qcow2')
      const image = readFileSync(disk)
      for (const [at, bytes, value] of changes[what]!)
        if (bytes === 4) image.writeUInt32BE(Number(value), at)
        else image.writeBigUInt64BE(value, at)
      writeFileSync(disk, image)
      const deadline = AbortSignal.timeout(30_000)
      const how = { deadline, onProgress: () => {} }
      for (const use of [
        () => driver.run(made.id, 'start', { force: false, deadline }),
        () => driver.clone(made.id, 'two', { linked: true, ...how }),
        () => driver.clone(made.id, 'two', { linked: false, ...how }),
      ])
        await expect(use()).rejects.toMatchObject({ fault: 'conflict', message: expect.stringContaining('is damaged') })
      expect(await driver.list()).toEqual([made])
      await driver.close()
    },
  )

  test('nothing wrong is used, whatever its size', async () => {
    using folder = newFolder()
    const driver = await createQemu(join(folder.path, 'machines'))
    await driver.open(() => {})
    for (const size of [1, 511, 513, 1_000_000, 60_000_000]) {
      const { id } = await driver.create({
        name: `of ${size}`,
        description: '',
        cpus: 1,
        memory: 16,
        disks: [{ size }],
      })
      const how = { deadline: AbortSignal.timeout(30_000), onProgress: () => {} }
      await driver.clone(id, `linked to ${size}`, { linked: true, ...how })
    }
    await driver.close()
  })
})
