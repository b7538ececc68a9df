import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findFirmware } from '#lib/hypervisor/qemu/hardware/firmware.ts'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'

const reason = withoutQemu ? 'QEMU is not installed' : (await findFirmware()) ? undefined : 'UEFI is not installed'

describe.skipIf(reason !== undefined)(reason ?? 'the variables of a UEFI firmware', () => {
  test('are those of the snapshot after a revert, in a clone of it and in a pack of it', async () => {
    await using bench = await openQemuBench()
    const { driver } = bench
    const deadline = AbortSignal.timeout(60_000)
    const machine = { description: '', cpus: 1, memory: 64, disks: [{ size: 1 }], firmware: 'uefi' } as const
    const { id, home } = await driver.create({ ...machine, name: 'one' })
    const variables = join(home, 'firmware.qcow2')
    const original = await readFile(variables)
    const snapshot = crypto.randomUUID()
    const wanted = { id: snapshot, name: 'kept', description: '', withMemory: true }
    await driver.snapshots!.create(id, wanted, deadline)

    // Another image of the right format stands for variables that the guest has changed.
    await copyFile(join(home, 'disk0.qcow2'), variables)
    expect((await readFile(variables)).equals(original)).toBe(false)

    const options = { linked: false, deadline, onProgress: () => {} }
    const clone = await driver.snapshots!.clone(id, snapshot, 'clone', options)
    expect((await readFile(join(clone.home, 'firmware.qcow2'))).equals(original)).toBe(true)

    const staging = await mkdtemp(join(tmpdir(), 'vmhost-staging-'))
    {
      await using exported = await driver.snapshots!.export(id, snapshot, { staging, ...options })
      const packed = exported.files.find(({ name }) => name === 'firmware.qcow2')!
      expect((await readFile(packed.path)).equals(original)).toBe(true)
    }
    await rm(staging, { recursive: true })

    await driver.snapshots!.revert(id, snapshot, { skipResume: false, deadline })
    expect((await readFile(variables)).equals(original)).toBe(true)
  })
})
