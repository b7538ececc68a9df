import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { openQemuBench, type QemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { buildBootSectorDisk } from '../../support/guests/boot-sector.ts'
import { rounds } from '../../support/rounds.ts'
import { until } from '../../support/waiting.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'forks on QEMU', () => {
  /** Starts the counting guest on a disk of its own. */
  const startCounting = async (bench: QemuBench): Promise<MachineView> => {
    const machine = { name: 'source', description: '', cpus: 1, memory: 32, disks: [{ size: 1 }] }
    const { id, home } = await bench.driver.create({ ...machine, machine_type: 'q35' })
    const image = join(bench.folder, 'boot.img')
    buildBootSectorDisk(image)
    const convert = ['convert', '-O', 'qcow2', image, join(home, 'disk0.qcow2')]
    expect(await runProcess('qemu-img', convert, { timeout: 60_000 })).toMatchObject({ code: 0 })
    const view = await bench.run(id, 'start')
    await bench.nextTick(id)
    return view
  }
  const fork = (bench: QemuBench, id: string, names: readonly string[], deadline = AbortSignal.timeout(60_000)) =>
    bench.driver.fork!(
      id,
      names.map(name => ({ id: crypto.randomUUID(), name })),
      deadline,
    )
  /** The processes that work in a folder of a machine of this bench. */
  const listProcesses = ({ folder }: QemuBench): readonly string[] =>
    readdirSync('/proc').filter(pid => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(join(folder, 'machines/'))
      } catch {
        return false
      }
    })
  /** Expects that there is the source alone, which runs on. */
  const expectNothingLeft = async (bench: QemuBench, source: MachineView): Promise<void> => {
    expect((await bench.driver.list()).map(({ name }) => name)).toEqual(['source'])
    await bench.waitForView(source.id, { state: 'running' })
    const tick = await bench.nextTick(source.id)
    expect(await bench.nextTick(source.id)).toBeGreaterThan(tick)
    expect(readdirSync(join(bench.folder, 'machines'))).toEqual([source.id])
    await until(() => expect(listProcesses(bench)).toHaveLength(1))
    const journal = join(bench.folder, 'forks')
    expect(existsSync(journal) ? readdirSync(journal) : []).toEqual([])
  }

  test('a call that is cancelled leaves nothing, and the machine goes on', async () => {
    await using bench = await openQemuBench()
    const source = await startCounting(bench)
    const reason = new Error('the caller has changed their mind')
    await expect(fork(bench, source.id, ['one'], AbortSignal.abort(reason))).rejects.toBe(reason)
    await expectNothingLeft(bench, source)
    const cancelled = new AbortController()
    const forking = fork(bench, source.id, ['one', 'two'], cancelled.signal)
    await until(() => expect(readdirSync(join(bench.folder, 'machines')).length).toBeGreaterThan(1), 1)
    cancelled.abort(reason)
    await expect(forking).rejects.toBeInstanceOf(Error)
    await expectNothingLeft(bench, source)
    expect((await fork(bench, source.id, ['one'])).forks).toMatchObject([{ state: 'running' }])
  })

  test('a service that is killed while it forks leaves nothing, and the machine goes on', async () => {
    await using bench = await openQemuBench()
    const source = await startCounting(bench)
    await bench.close()
    const script = resolve('test/support/killed-fork.ts')
    const forkUntil = async (step: number): Promise<{ signal: string | null; steps: number }> => {
      const args = [script, join(bench.folder, 'machines'), source.id, String(step)]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
      return { signal, steps: Number(output) }
    }
    const { steps } = await forkUntil(Infinity)
    expect(steps).toBeGreaterThan(20)
    await bench.open()
    for (const { id, name } of await bench.driver.list()) {
      if (name === 'source') continue
      await bench.run(id, 'stop', { force: true })
      await bench.driver.remove(id)
    }
    const count = rounds(5, 100)
    for (let at = 0; at < count; at += 1) {
      await bench.close()
      expect(await forkUntil(Math.floor((steps * (at + 0.5)) / count))).toMatchObject({ signal: 'SIGKILL' })
      await bench.open()
      await expectNothingLeft(bench, source)
    }
    const { forks } = await fork(bench, source.id, ['one', 'two'])
    for (const { id } of forks) expect(await bench.nextTick(id)).toBeGreaterThan(1)
  })
})
