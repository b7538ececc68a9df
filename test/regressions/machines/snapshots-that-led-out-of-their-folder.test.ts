import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SnapshotTree } from '#lib/hypervisor/snapshot.ts'
import { createEmbeddedBench } from '../../support/drivers/embedded-bench.ts'
import { newFolder } from '../../support/folder.ts'
import { buildQuickGuest } from '../../support/guests/quick-guest.ts'

const damages: Readonly<Record<string, (tree: SnapshotTree) => void>> = {
  'a disk elsewhere': ({ snapshots: [first] }) =>
    void (first!.layers = { '../../outside': Object.values(first!.layers)[0]! }),
  'an image elsewhere': ({ snapshots: [first] }) =>
    void (first!.layers = Object.fromEntries(Object.keys(first!.layers).map(disk => [disk, '/etc/passwd']))),
  'a snapshot that is its own ancestor': ({ snapshots: [first] }) => void (first!.parent = first!.id),
  'two snapshots with one id': ({ snapshots }) => void snapshots.push(snapshots[0]!),
}

test.each(Object.keys(damages))('a file of snapshots that names %s is not used, and stays', async damage => {
  using folder = newFolder()
  const open = async () => {
    const driver = createEmbeddedBench(join(folder.path, 'machines')).driver()
    await driver.open(() => {})
    return driver
  }
  const deadline = AbortSignal.timeout(60_000)
  const first = await open()
  const kernel = join(folder.path, 'kernel.bin')
  await writeFile(kernel, buildQuickGuest())
  const { id, home } = await first.create({
    ...{ name: 'one', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }], kernel },
  })
  const snapshot = { id: crypto.randomUUID(), name: 'kept', description: '', withMemory: false }
  await first.snapshots!.create(id, snapshot, deadline)
  await first.close()

  const path = join(home, 'snapshots.json')
  const tree = JSON.parse(await readFile(path, 'utf8')) as SnapshotTree
  damages[damage]!(tree)
  await writeFile(path, JSON.stringify(tree))
  const second = await open()
  expect((await second.get(id))?.snapshots).toBeUndefined()
  const another = second.snapshots!.create(id, { ...snapshot, id: crypto.randomUUID(), name: 'two' }, deadline)
  await expect(another).rejects.toMatchObject({ fault: 'conflict', message: expect.stringContaining(path) })
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(tree)
  await second.close()
})
