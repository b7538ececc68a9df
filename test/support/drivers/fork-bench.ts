import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { buildBootSectorDisk } from '../guests/boot-sector.ts'
import type { QemuBench } from './qemu-bench.ts'

/** Starts the counting guest on a disk of its own, so that it can fork. */
export const startCounting = async (bench: QemuBench, name = 'source'): Promise<MachineView> => {
  const machine = { name, description: '', cpus: 1, memory: 32, disks: [{ size: 1 }] }
  const { id, home } = await bench.driver.create({ ...machine, machine_type: 'q35' })
  const image = join(bench.folder, `${name}.img`)
  buildBootSectorDisk(image)
  const convert = ['convert', '-O', 'qcow2', image, join(home, 'disk0.qcow2')]
  expect(await runProcess('qemu-img', convert, { timeout: 60_000 })).toMatchObject({ code: 0 })
  const view = await bench.run(id, 'start')
  await bench.nextTick(id)
  return view
}

/** Forks a machine of a driver, to forks with these names. */
export const forkTo = (
  { driver }: QemuBench,
  id: string,
  names: readonly string[],
  deadline = AbortSignal.timeout(60_000),
) =>
  driver.forks!.fork(
    id,
    names.map(name => ({ name })),
    deadline,
  )

/** Has a process of its own fork a machine, or a snapshot of it, and be killed before a step: see `killed-fork.ts`. */
export const forkInKilledService = async (
  { folder }: QemuBench,
  id: string,
  step: number | string,
  ...snapshot: string[]
): Promise<{ signal: string | null; steps: number }> => {
  const script = resolve('test/support/killed-fork.ts')
  const args = [script, 'qemu', join(folder, 'machines'), id, String(step), ...snapshot]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return { signal, steps: Number(output) }
}

/** Stops and deletes all machines but the source. */
export const removeForks = async (bench: QemuBench): Promise<void> => {
  for (const { id, name } of await bench.driver.list()) {
    if (name === 'source') continue
    await bench.run(id, 'stop', { force: true })
    await bench.driver.remove(id)
  }
}
