import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { listPackFiles } from '#lib/packs/pack-files.ts'
import { unpackTar } from '#lib/packs/tar/unpack-tar.ts'
import { packTar } from '#lib/packs/tar/pack-tar.ts'
import type { Compression } from '#lib/packs/tar/pack-tar.ts'
import { newFolder } from '../../support/folder.ts'
import { entry, streamOf } from './raw-tar.ts'

const limits = { entries: 10, bytes: 1024 ** 3, ratio: 1000 }
const compressions: readonly Compression[] = [{ kind: 'none' }, { kind: 'gzip', level: 1 }, { kind: 'zstd', level: 1 }]

/** Files below a folder that this process has open; where the system does not tell, none. */
const openFiles = (folder: string): number => {
  if (process.platform !== 'linux') return 0
  return readdirSync('/proc/self/fd').filter(descriptor => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(folder)
    } catch {
      return false // The one that the list was read with.
    }
  }).length
}

/** Reads a stream to its end, keeping nothing. */
const sizeOf = async (stream: ReadableStream<Uint8Array>): Promise<number> => {
  let size = 0
  for await (const part of stream) size += part.length
  return size
}

describe('packing', () => {
  const changes: readonly (readonly [string, (path: string) => void])[] = [
    ['becomes longer', path => appendFileSync(path, 'x')],
    ['becomes shorter', path => truncateSync(path, 10)],
    ['is gone', path => rmSync(path)],
    ['becomes a link', path => (rmSync(path), symlinkSync('/etc/passwd', path))],
    ['becomes a folder', path => (rmSync(path), mkdirSync(path))],
    ['is written to', path => writeFileSync(path, Buffer.alloc(5_000_000, 2))],
    ['has another time', path => utimesSync(path, 1, 1)],
  ]
  test.each(changes)('fails and names the file when one %s before it is read', async (_, change) => {
    for (const compression of compressions) {
      using folder = newFolder()
      const path = join(folder.path, 'disk.img')
      writeFileSync(path, Buffer.alloc(5_000_000, 1))
      utimesSync(path, 1_600_000_000, 1_600_000_000)
      const files = await listPackFiles(folder.path)
      change(path)
      await expect(sizeOf(packTar(files, compression))).rejects.toMatchObject({
        fault: 'conflict',
        message: expect.stringContaining('disk.img'),
      })
    }
  })

  test.each(['empty', 'large'])('fails when a file that is %s changes while it is read', async which => {
    for (const compression of compressions) {
      using folder = newFolder()
      const path = join(folder.path, 'b-disk.img')
      writeFileSync(join(folder.path, 'a'), 'x')
      writeFileSync(path, Buffer.alloc(which === 'empty' ? 0 : 40_000_000, 1))
      const files = await listPackFiles(folder.path)
      let written = false
      const stream = packTar(files, compression, {
        onProgress: bytes => {
          if (written || (which === 'large' && bytes < 2_000_000)) return
          written = true
          appendFileSync(path, 'more')
        },
      })
      await expect(sizeOf(stream)).rejects.toMatchObject({
        fault: 'conflict',
        message: expect.stringContaining('b-disk.img'),
      })
    }
  })

  test('stops with the reason of its signal and closes the files', async () => {
    using folder = newFolder()
    writeFileSync(join(folder.path, 'disk'), Buffer.alloc(40_000_000, 1))
    for (const compression of compressions) {
      const controller = new AbortController()
      const stream = packTar(await listPackFiles(folder.path), compression, {
        signal: controller.signal,
        onProgress: () => controller.abort(new Error('enough')),
      })
      await expect(sizeOf(stream)).rejects.toThrow('enough')
      await expect.poll(() => openFiles(folder.path)).toBe(0)
    }
  })

  test('closes the files when its reader stops', async () => {
    using folder = newFolder()
    writeFileSync(join(folder.path, 'disk'), Buffer.alloc(40_000_000, 1))
    for (const compression of compressions) {
      const reader = packTar(await listPackFiles(folder.path), compression).getReader()
      await reader.read()
      await reader.read()
      await reader.cancel()
      await expect.poll(() => openFiles(folder.path)).toBe(0)
    }
  })
})

describe('unpacking', () => {
  const start = entry({ name: 'disk', size: 50_000_000, content: Buffer.alloc(20_000_000, 1) })

  test.each([
    ['plain', start],
    ['gzip', gzipSync(start, { level: 0 }).subarray(0, -8)],
  ])('of a %s pack stops by its signal while nothing comes, and lets go of all', async (_, bytes) => {
    using folder = newFolder()
    const controller = new AbortController()
    let cancelled = false
    const stream = new ReadableStream<Uint8Array>({
      start: queue => queue.enqueue(bytes),
      cancel: () => {
        cancelled = true
      },
    })
    const unpacking = unpackTar(stream, folder.path, {
      limits,
      signal: controller.signal,
      onProgress: bytesOfFiles => bytesOfFiles > 2_000_000 && setImmediate(() => controller.abort(new Error('enough'))),
    })
    await expect(unpacking).rejects.toThrow('enough')
    expect(cancelled).toBe(true)
    expect(openFiles(folder.path)).toBe(0)
  })

  test('does not begin when its signal is already aborted', async () => {
    using folder = newFolder()
    const stream = streamOf(start)
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(unpackTar(stream, folder.path, { limits, signal })).rejects.toThrow('enough')
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('cancels the stream of a pack that it refuses', async () => {
    using folder = newFolder()
    let cancelled = false
    const stream = new ReadableStream<Uint8Array>({
      pull: queue => queue.enqueue(Buffer.alloc(1000, 'no tar')),
      cancel: () => {
        cancelled = true
      },
    })
    await expect(unpackTar(stream, folder.path, { limits })).rejects.toMatchObject({ fault: 'invalid' })
    await expect.poll(() => cancelled).toBe(true)
  })
})
