import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { readSerialLog } from '../../support/guests/serial.ts'
import { rounds } from '../../support/rounds.ts'
import { until } from '../../support/waiting.ts'

const deadline = () => AbortSignal.timeout(60_000)
const bootsOf = (serial: string): number => [...serial.matchAll(/BOOT /g)].length

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'services that are killed', () => {
  const setUp = async () => {
    const bench = await openQemuBench()
    const { id: source } = await bench.create('source')
    const options = { linked: false, deadline: deadline(), onProgress: () => {} }
    const { id } = await bench.driver.clone(source, 'one', options)
    await bench.run(id, 'start')
    await bench.nextTick(id)
    return { bench, id }
  }
  /** Runs a driver that is killed before this step. Returns false if it was done before. */
  const killAt = async (folder: string, id: string, what: string, step: number): Promise<boolean> => {
    const program = resolve('test/support/killed-snapshot.ts')
    const child = spawn(process.execPath, [program, 'qemu', join(folder, 'machines'), id, what, String(step)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    const [code, signal] = await once(child, 'exit')
    expect([code, signal]).toBeOneOf([
      [0, null],
      [null, 'SIGKILL'],
    ])
    return signal === 'SIGKILL'
  }
  const steps = (usual: readonly number[]): readonly number[] =>
    rounds(
      usual,
      Array.from({ length: 50 }, (_, step) => step),
    )

  test('before a step of a snapshot: the guest continues, and the snapshot is there or not', async () => {
    const { bench, id } = await setUp()
    await using _bench = bench
    for (const step of steps([4, 9])) {
      await bench.close()
      const isKilled = await killAt(bench.folder, id, 'create', step)
      await bench.open()
      await bench.waitForView(id, { state: 'running' })
      await bench.nextTick(id)
      const { home, snapshots: tree } = await bench.get(id)
      const ids = (tree?.snapshots ?? []).map(one => one.id)
      const memory = (await readdir(home)).filter(name => name.startsWith('snapshot-'))
      expect(memory.toSorted()).toEqual(ids.map(one => `snapshot-${one}.mem`).toSorted())
      expect(bootsOf(await readSerialLog({ home }))).toBe(1)
      for (const one of ids) {
        await bench.driver.snapshots!.revert(id, one, { skipResume: false, deadline: deadline() })
        await bench.nextTick(id)
      }
      if (ids.length > 0) await bench.driver.snapshots!.delete(id, ids, deadline())
      expect(bootsOf(await readSerialLog({ home }))).toBe(1)
      if (!isKilled) break
    }
  })

  test('before a step of a revert: the machine is what it was, or what the snapshot is', async () => {
    const { bench, id } = await setUp()
    await using _bench = bench
    const snapshot = { id: crypto.randomUUID(), name: 'kept', description: '', withMemory: true }
    await bench.driver.snapshots!.create(id, snapshot, deadline())
    let boots = 1
    for (const step of steps([5, 10])) {
      await bench.run(id, 'restart')
      boots += 1
      await until(async () => expect(bootsOf(await readSerialLog(await bench.get(id)))).toBe(boots))
      await bench.close()
      const isKilled = await killAt(bench.folder, id, snapshot.id, step)
      await bench.open()
      await until(async () => expect((await bench.get(id)).state).toBeOneOf(['running', 'suspended']))
      const { state, snapshots: tree } = await bench.get(id)
      expect(tree).toMatchObject({ current: snapshot.id, snapshots: [{ id: snapshot.id }] })
      expect(tree!.reverting).toBeUndefined()
      if (state === 'suspended') await bench.run(id, 'resume')
      await bench.nextTick(id)
      await bench.driver.snapshots!.revert(id, snapshot.id, { skipResume: false, deadline: deadline() })
      await bench.nextTick(id)
      expect(bootsOf(await readSerialLog(await bench.get(id)))).toBe(boots)
      if (!isKilled) break
    }
  })
})
