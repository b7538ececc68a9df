import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { SnapshotTree } from '#lib/hypervisor/snapshot.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { newFolder } from '../../support/folder.ts'

const deadline = () => AbortSignal.timeout(60_000)

test.skipIf(withoutQemu)(
  'a revert that a start of the service cannot finish is finished by the next start of the machine',
  async () => {
    using folder = newFolder()
    const machines = join(folder.path, 'machines')
    const first = await createQemu(machines)
    await first.open(() => {})
    const { id, home } = await first.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }] })
    const snapshot = { id: crypto.randomUUID(), name: 'kept', description: '', withMemory: false }
    await first.snapshots!.create(id, snapshot, deadline())
    await first.close()

    const path = join(home, 'snapshots.json')
    const tree = JSON.parse(await readFile(path, 'utf8')) as SnapshotTree
    await writeFile(path, JSON.stringify({ ...tree, reverting: snapshot.id }))
    const image = join(home, Object.values(tree.snapshots[0]!.layers)[0]!)
    await rename(image, `${image}.away`)
    const second = await createQemu(machines)
    await second.open(() => {})
    expect((await second.get(id))?.snapshots).toMatchObject({ reverting: snapshot.id })
    await expect(second.run(id, 'start', { force: false, deadline: deadline() })).rejects.toThrow(
      /nothing at that path/,
    )

    // What would put the new snapshot in a tree without the revert.
    const another = { ...snapshot, id: crypto.randomUUID(), name: 'another' }
    for (const attempt of [
      () => second.snapshots!.create(id, another, deadline()),
      () => second.snapshots!.delete(id, [snapshot.id], deadline()),
    ])
      await expect(attempt()).rejects.toThrow(/nothing at that path/)
    expect((await second.get(id))?.snapshots).toMatchObject({ reverting: snapshot.id })

    await rename(`${image}.away`, image)
    const { state, snapshots } = await second.run(id, 'start', { force: false, deadline: deadline() })
    expect([state, snapshots?.reverting, snapshots?.current]).toEqual(['running', undefined, snapshot.id])
    await second.run(id, 'stop', { force: true, deadline: deadline() })
    await second.close()
  },
)
