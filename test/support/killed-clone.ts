/**
 * Makes a linked clone and is killed before the step of this number: `node killed-clone.ts FOLDER ID STEP QEMU-IMG`.
 * A step is a change of a file or folder, or a program that is started.
 */
import child from 'node:child_process'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [folder = '', id = '', step = '', img = ''] = process.argv.slice(2)

let left = Number(step)
const counted = <F extends (...args: never[]) => unknown>(real: F): F =>
  ((...args: Parameters<F>) => {
    if (left === 0) process.kill(process.pid, 'SIGKILL')
    left -= 1
    return real(...args)
  }) as F

const { createQemu } = await import('./drivers/qemu.ts')
const { findQemu } = await import('#lib/hypervisor/qemu/programs.ts')

const driver = await createQemu(folder, { programs: { ...(await findQemu())!, img } })
await driver.open(() => {})
for (const name of ['link', 'rename', 'rm', 'mkdir'] as const)
  (fs.promises as unknown as Record<string, unknown>)[name] = counted(fs.promises[name] as never)
;(child as unknown as Record<string, unknown>)['spawn'] = counted(child.spawn as never)
syncBuiltinESMExports()
await driver.clone(id, 'killed', { linked: true, deadline: new AbortController().signal, onProgress: () => {} })
process.exit(0)
