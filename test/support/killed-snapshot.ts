/**
 * Makes a snapshot or reverts to one, and is killed before the step of this number:
 * `node killed-snapshot.ts qemu|embedded FOLDER ID create|SNAPSHOT STEP`. A step is a change of a file or folder, or a command to
 * QEMU.
 */
import fs from 'node:fs'
import net from 'node:net'
import { syncBuiltinESMExports } from 'node:module'

const [kind = '', folder = '', id = '', what = '', step = ''] = process.argv.slice(2)

let left = Infinity
const counted = <F extends (...args: never[]) => unknown>(real: F): F =>
  function (this: unknown, ...args: Parameters<F>) {
    if (left === 0) process.kill(process.pid, 'SIGKILL')
    left -= 1
    return real.apply(this, args)
  } as F

for (const name of ['link', 'rename', 'rm', 'copyFile'] as const)
  (fs.promises as unknown as Record<string, unknown>)[name] = counted(fs.promises[name] as never)
net.Socket.prototype.write = counted(net.Socket.prototype.write as never)
syncBuiltinESMExports()

const { createQemu } = await import('./drivers/qemu.ts')
const { createEmbeddedBench } = await import('./drivers/embedded-bench.ts')
const driver = kind === 'qemu' ? await createQemu(folder) : createEmbeddedBench(folder).driver()
await driver.open(() => {})
left = Number(step)
const deadline = AbortSignal.timeout(60_000)
if (what === 'create') {
  const snapshot = { id: crypto.randomUUID(), name: 'killed', description: '', withMemory: true }
  await driver.snapshots!.create(id, snapshot, deadline)
} else await driver.snapshots!.revert(id, what, { skipResume: false, deadline })
process.exit(0)
