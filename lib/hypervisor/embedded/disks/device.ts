import { fsyncSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { applyWritten, isAnyWritten, layOutOverlay, markWritten, sectorSize } from './overlay.ts'

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

/** Bytes of an overlay that are read at a time. */
const partSize = 1 << 20

/** The files of a disk. */
export interface DiskFiles {
  readonly path: string
  /** The base image, if `path` is an overlay on one. */
  readonly base?: string
}

/** The open content of a disk. */
interface Content {
  readonly bytes: Uint8Array
  /** Writes the bytes from `start` to `end` to the file. */
  write(start: number, end: number): void
  sync(): void
}

const writeFully = (file: number, bytes: Uint8Array, position: number): void => {
  for (let done = 0; done < bytes.length;) done += writeSync(file, bytes, done, bytes.length - done, position + done)
}

const readFully = (file: number, length: number, position: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let done = 0; done < length;) {
    const bytesRead = readSync(file, bytes, done, length - done, position + done)
    if (bytesRead === 0) throw new Error('the file of the disk has become shorter')
    done += bytesRead
  }
  return bytes
}

const openImage = (file: number): Content => {
  const bytes = new Uint8Array(readFileSync(file))
  return {
    bytes,
    write: (start, end) => writeFully(file, bytes.subarray(start, end), start),
    sync: () => fsyncSync(file),
  }
}

/** Opens an overlay, which `machine-disk.ts` has validated. */
const openOverlay = (file: number, base: string): Content => {
  const bytes = new Uint8Array(readFileSync(base))
  const layout = layOutOverlay(bytes.length)
  const map = readFully(file, layout.map.size, layout.map.offset)
  for (let at = 0; at < bytes.length; at += partSize) {
    const target = bytes.subarray(at, at + partSize)
    const first = at / sectorSize
    if (isAnyWritten(map, first, first + target.length / sectorSize))
      applyWritten(target, readFully(file, target.length, layout.content + at), map, first)
  }
  return {
    bytes,
    write(start, end) {
      const [from, to] = [Math.floor(start / sectorSize), Math.ceil(end / sectorSize)]
      writeFully(file, bytes.subarray(from * sectorSize, to * sectorSize), layout.content + from * sectorSize)
      if (!markWritten(map, from, to)) return
      // Written after the sectors: if this process is killed between, the sectors are what they were.
      const [first, last] = [from >>> 3, (to - 1) >>> 3]
      writeFully(file, map.subarray(first, last + 1), layout.map.offset + first)
    },
    sync: () => fsyncSync(file),
  }
}

const noContent: Content = { bytes: new Uint8Array(0), write: () => {}, sync: () => {} }

const openContent = (files: DiskFiles | undefined): Content => {
  if (!files) return noContent
  const file = openSync(files.path, 'r+')
  return files.base === undefined ? openImage(file) : openOverlay(file, files.base)
}

/**
 * Opens a disk. Without files it is a drive without sectors, since v86 restores a state only if a drive exists. Reads come from
 * memory. A write reaches the file before the guest sees it complete, so it survives this process. A saved state contains no
 * content of the disk.
 */
export const openDisk = (files: DiskFiles | undefined): Disk => {
  const { bytes, write, sync } = openContent(files)
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
      if (start + data.length <= bytes.length) {
        bytes.set(data, start)
        write(start, start + data.length)
      }
      done()
    },
    get_buffer: (done: (buffer: ArrayBufferLike) => void) => done(bytes.buffer),
    get_state: () => [bytes.length] as const,
    set_state: () => {},
  })
  return { device, bytes, sync }
}
