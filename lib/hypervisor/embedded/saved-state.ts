import { hash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import * as z from 'zod'

/** What a saved state belongs to. It can be restored only with the same machine, emulator, memory size and disk content. */
export interface Origin {
  readonly id: string
  /** SHA-256 of the emulator's program. */
  readonly emulator: string
  /** MB */
  readonly memory: number
  /** SHA-256 of the disk's content. */
  readonly disk: string
}

const Header = z.object({
  id: z.string(),
  emulator: z.string(),
  memory: z.number(),
  disk: z.string(),
  /** SHA-256 of the state itself. */
  state: z.string(),
})

const signature = 'vmhost embedded state 1\n'
/** Bytes of the header: the signature and JSON, padded with spaces. The state follows. */
const headerSize = 1024

export const computeSha256 = (bytes: Uint8Array): string => hash('sha256', bytes)

/** Writes a state to `path` and makes it durable. */
export const writeState = (path: string, state: Uint8Array, origin: Origin): void => {
  const header = Buffer.from(
    (signature + JSON.stringify({ ...origin, state: computeSha256(state) })).padEnd(headerSize),
  )
  const file = openSync(path, 'w', 0o600)
  try {
    for (const part of [header, state]) for (let done = 0; done < part.length;) done += writeSync(file, part, done)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Reads the saved state at `path`. Throws an Error with the reason if it does not belong to `origin`. */
export const readState = (path: string, origin: Origin): ArrayBuffer => {
  const file = readFileSync(path)
  const start = file.toString('utf8', 0, headerSize)
  if (!start.startsWith(signature)) throw new Error('it was not written by this driver')
  const parsed = Header.safeParse(parseJson(start.slice(signature.length)))
  const state = new Uint8Array(file.subarray(headerSize))
  if (!parsed.success || computeSha256(state) !== parsed.data.state) throw new Error('it is truncated or damaged')
  const header = parsed.data
  if (header.id !== origin.id) throw new Error('it belongs to another machine')
  if (header.emulator !== origin.emulator) throw new Error('it was written by another version of the emulator')
  if (header.memory !== origin.memory) throw new Error(`it is of a machine with ${header.memory} MB of memory`)
  if (header.disk !== origin.disk) throw new Error("the machine's disk has changed since")
  return state.buffer
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
