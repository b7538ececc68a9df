import { randomFillSync } from 'node:crypto'
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export const mebibyte = 1024 * 1024
export const gibibyte = 1024 * mebibyte

/** Bytes that are of one kind. */
const stripe = 4 * mebibyte

const words =
  'service listen address certificate machine error starting stopped /usr/lib/systemd 10.0.0.1 0x7f3a = ; { } true null'

/** Words in no order, in lines that begin with a number: logs and configuration shrink about so. */
const textOf = (size: number): Buffer => {
  const known = words.split(' ')
  const lines: string[] = []
  for (let length = 0; length < size; length += lines.at(-1)!.length + 1) {
    const line = Array.from({ length: 12 }, () => known[Math.floor(Math.random() * known.length)])
    lines.push(`${Math.floor(Math.random() * 1e9)} ${line.join(' ')}`)
  }
  return Buffer.from(lines.join('\n')).subarray(0, size)
}

/** What a disk that is in use is full of: half is text, a quarter is random, a quarter zeros. */
const fill = (file: number, size: number): void => {
  // No compressor looks back as far as from one copy of the text to the next.
  const text = textOf(2 * stripe)
  const random = Buffer.allocUnsafe(stripe)
  const zeros = Buffer.alloc(stripe)
  for (let at = 0; at < size; at += 4 * stripe)
    for (const part of [text.subarray(0, stripe), randomFillSync(random), text.subarray(stripe), zeros])
      writeSync(file, part)
}

/** A disk that is mostly holes: one random MiB in 64. */
const sprinkle = (file: number, size: number): void => {
  for (let at = 0; at < size; at += 64 * mebibyte)
    writeSync(file, randomFillSync(Buffer.alloc(mebibyte)), 0, mebibyte, at)
  ftruncateSync(file, size)
}

/** Puts a machine with one raw disk into the state folder of a service that does not run. Gives its folder. */
export const addMachine = (state: string, name: string, size: number, content: 'used' | 'sparse'): string => {
  const id = crypto.randomUUID()
  const home = join(state, 'machines', 'qemu', id)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const file = openSync(join(home, 'disk0.raw'), 'wx', 0o600)
  if (content === 'used') fill(file, size)
  else sprinkle(file, size)
  closeSync(file)
  const definition = {
    id,
    name,
    cpus: 1,
    memory: 16,
    disks: [{ path: 'disk0.raw', size, format: 'raw' }],
    created_at: new Date().toISOString(),
  }
  writeFileSync(join(home, 'machine.json'), JSON.stringify(definition), { mode: 0o600 })
  return home
}
