/**
 * Forks a machine, or a snapshot of it, and is killed before the step of this number, or the first one that this pattern matches:
 * `node killed-fork.ts qemu|embedded FOLDER ID STEP [SNAPSHOT]`. A step is a change of a file or folder, a program that is started, or
 * a message to QEMU; its text is what it does and to which files. Prints the number of steps if it was not killed.
 */
import child from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'

const [kind = '', folder = '', id = '', step = '', snapshot = ''] = process.argv.slice(2)

let done = 0
const counted = <F extends (...args: never[]) => unknown>(real: F): F =>
  function (this: unknown, ...args: Parameters<F>) {
    const isNamed = /\D/.test(step) && new RegExp(step).test(`${real.name} ${args.join(' ')}`)
    if (done === Number(step) || isNamed) process.kill(process.pid, 'SIGKILL')
    done += 1
    return real.apply(this, args)
  } as unknown as F

const { createQemu } = await import('./drivers/qemu.ts')
const { createEmbeddedBench } = await import('./drivers/embedded-bench.ts')

const driver = kind === 'qemu' ? await createQemu(folder) : createEmbeddedBench(folder).driver()
await driver.open(() => {})
for (const name of ['link', 'rename', 'rm', 'mkdir'] as const)
  (fs.promises as unknown as Record<string, unknown>)[name] = counted(fs.promises[name] as never)
;(child as unknown as Record<string, unknown>)['spawn'] = counted(child.spawn as never)
net.Socket.prototype.write = counted(net.Socket.prototype.write as never)
syncBuiltinESMExports()
const forks = ['one', 'two'].map(name => ({ name }))
const { signal } = new AbortController()
await (snapshot === ''
  ? driver.forks!.fork(id, forks, signal)
  : driver.forks!.forkSnapshot(id, snapshot, forks, signal))
process.stdout.write(`${done}\n`)
process.exit(0)
