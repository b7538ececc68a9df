import { fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/**
 * The interface that v86 expects of a custom disk buffer. The names are v86's: they are in its source (src/buffer.js) but not in
 * its types.
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
  /** The present content of the disk. */
  readonly bytes: Uint8Array
  /** Makes all writes durable. */
  sync(): void
}

/**
 * Opens the raw image `path` as a disk. Without a path it is a drive without sectors, since v86 restores a state only if a drive
 * exists. Reads come from memory. A write reaches the file before the guest sees it complete, so it survives this process. A
 * saved state contains no content of the disk.
 */
export const openDisk = (path: string | undefined): Disk => {
  const file = path === undefined ? undefined : openSync(path, 'r+')
  const bytes = file === undefined ? new Uint8Array(0) : new Uint8Array(readFileSync(file))
  // v86 reads the first sector of every drive, even of a drive without sectors.
  const readRange = (start: number, length: number): Uint8Array =>
    start + length <= bytes.length ? bytes.subarray(start, start + length) : new Uint8Array(length)

  // No prototype, because v86 prints every plain object that it finds in a state.
  const device: DiskDevice = Object.assign(Object.create(null) as object, {
    byteLength: bytes.length,
    load: () => device.onload?.(),
    get: (start: number, length: number, done: (bytes: Uint8Array) => void) => done(readRange(start, length)),
    get_and_cache: (start: number, length: number, done: (bytes: Uint8Array) => void) => done(readRange(start, length)),
    get_from_cache: readRange,
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
