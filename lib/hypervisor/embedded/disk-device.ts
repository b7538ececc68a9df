import { fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/**
 * A disk in the form in which v86 takes one that is not its own buffer. Its names are v86's; they are in its source
 * (src/buffer.js) and not in its types.
 */
export interface DiskDevice {
  readonly byteLength: number
  onload?: () => void
  onprogress?: () => void
  load(): void
  get(start: number, length: number, done: (bytes: Uint8Array) => void): void
  get_and_cache(start: number, length: number, done: (bytes: Uint8Array) => void): void
  get_from_cache(start: number, length: number): Uint8Array
  set(start: number, bytes: Uint8Array, done: () => void): void
  get_buffer(done: (buffer: ArrayBufferLike) => void): void
  get_state(): readonly [number]
  set_state(): void
}

export interface Disk {
  readonly device: DiskDevice
  /** What the disk holds now. */
  readonly bytes: Uint8Array
  /** Makes all that was written survive a power cut. */
  sync(): void
}

/**
 * The raw image `path` as a disk, or, without a path, a drive of no sectors: v86 restores a state only where there is a drive.
 * Reads are served from memory; a write is in the file before the guest learns that it is done, so it outlives this process.
 * A saved state holds none of the disk's content.
 */
export const openDisk = (path: string | undefined): Disk => {
  const file = path === undefined ? undefined : openSync(path, 'r+')
  const bytes = file === undefined ? new Uint8Array(0) : new Uint8Array(readFileSync(file))
  // v86 looks at the first sector of every drive, also of one that has none.
  const part = (start: number, length: number): Uint8Array =>
    start + length <= bytes.length ? bytes.subarray(start, start + length) : new Uint8Array(length)

  // Without a prototype, as v86 prints every plain object that it meets in a state.
  const device: DiskDevice = Object.assign(Object.create(null) as object, {
    byteLength: bytes.length,
    load: () => device.onload?.(),
    get: (start: number, length: number, done: (bytes: Uint8Array) => void) => done(part(start, length)),
    get_and_cache: (start: number, length: number, done: (bytes: Uint8Array) => void) => done(part(start, length)),
    get_from_cache: part,
    set(start: number, data: Uint8Array, done: () => void) {
      if (file !== undefined && start + data.length <= bytes.length) {
        for (let at = 0; at < data.length;) at += writeSync(file, data, at, data.length - at, start + at)
        bytes.set(data, start)
      }
      done()
    },
    get_buffer: (done: (buffer: ArrayBufferLike) => void) => done(bytes.buffer),
    get_state: () => [bytes.length] as const,
    set_state: () => {},
  })
  return { device, bytes, sync: () => file !== undefined && fsyncSync(file) }
}
