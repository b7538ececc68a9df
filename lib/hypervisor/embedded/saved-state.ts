import { hash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import * as z from 'zod'

/** The machine and the emulator that a saved state belongs to. */
export interface StateOwner {
  readonly id: string
  /** SHA-256 of the emulator's program. */
  readonly emulator: string
  /** MB */
  readonly memory: number
}

/** What a saved state belongs to. It can be restored only with the same machine, emulator, memory size and disk content. */
export interface Origin extends StateOwner {
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

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the header at the start of a saved state. Throws an Error if it is none. */
const parseHeader = (start: string): z.infer<typeof Header> => {
  if (!start.startsWith(signature)) throw new Error('it was not written by this driver')
  const { data } = Header.safeParse(parseJson(start.slice(signature.length)))
  if (!data) throw new Error('it is truncated or damaged')
  return data
}

/** Throws an Error with the reason if a saved state does not belong to this machine and this emulator. */
const assertOwner = (header: StateOwner, owner: StateOwner): void => {
  if (header.id !== owner.id) throw new Error('it belongs to another machine')
  if (header.emulator !== owner.emulator) throw new Error('it was written by another version of the emulator')
  if (header.memory !== owner.memory) throw new Error(`it is of a machine with ${header.memory} MB of memory`)
}

/** Reads the saved state at `path`. Throws an Error with the reason if it does not belong to `origin`. */
export const readState = (path: string, origin: Origin): ArrayBuffer => {
  const file = readFileSync(path)
  const header = parseHeader(file.toString('utf8', 0, headerSize))
  const state = new Uint8Array(file.subarray(headerSize))
  if (computeSha256(state) !== header.state) throw new Error('it is truncated or damaged')
  assertOwner(header, origin)
  if (header.disk !== origin.disk) throw new Error("the machine's disk has changed since")
  return state.buffer
}

/**
 * Checks whether the saved state at `path` belongs to this machine and this emulator, and reads no more than its header. Throws an
 * Error with the reason.
 */
export const checkStateOwner = async (path: string, owner: StateOwner): Promise<void> => {
  await using file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(headerSize), 0, headerSize, 0)
  assertOwner(parseHeader(buffer.toString('utf8')), owner)
}
