import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { isDiskFull, syncFolder } from '#lib/platform/files.ts'
import { createSteadySync } from '#lib/platform/steady-sync.ts'
import { broken } from './broken.ts'
import { createByteReader } from './byte-reader.ts'
import { entriesOf } from './entries.ts'
import type { Entry } from './entries.ts'
import { openPack } from './inflate.ts'
import { createNames } from './names.ts'
import { createSparseWriter } from './sparse-file.ts'

export interface UnpackedFile {
  readonly name: string
  /** Bytes. */
  readonly size: number
  /** Lower-case hex. */
  readonly sha256: string
}

export interface UnpackLimits {
  /** Files and folders. */
  readonly entries: number
  /** Bytes of all files, holes included. */
  readonly bytes: number
  /** Bytes to write for each byte of the pack. Holes do not count: a disk that is nearly empty packs to nearly nothing. */
  readonly ratio: number
}

interface UnpackOptions {
  readonly limits: UnpackLimits
  readonly signal?: AbortSignal
  /** Is told how many bytes of files have gone by. */
  readonly onProgress?: (bytesOfFiles: number) => void
}

/** Bytes that may be written before the ratio is looked at: small texts shrink to nothing and harm nobody. */
const freeOfRatio = 1024 * 1024

/** Counts against the limits; each function throws `invalid` when one is passed. */
const createMeter = ({ entries, bytes, ratio }: UnpackLimits) => {
  let [packed, written, content] = [0, 0, 0]
  return {
    packed: (size: number): void => {
      packed += size
    },
    written: (size: number): void => {
      written += size
      if (written > freeOfRatio && written > packed * ratio)
        throw broken(`it grows to more than ${ratio} times its size`)
    },
    file: (size: number): void => {
      content += size
      if (content > bytes) throw broken(`its files have more than ${bytes} bytes`)
    },
    names: (count: number): void => {
      if (count > entries) throw broken(`it has more than ${entries} files and folders`)
    },
  }
}

/** Only new files, and no link in place of one, which could lead out. */
export const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/**
 * Unpacks a tar, plain or in gzip or zstd, into an existing empty folder that nobody else writes to. Runs of zeros from
 * 64 KiB on become holes; files are synced and keep their times and 755 of their modes. Leading slashes are taken off;
 * a tar that ends behind its last file is whole, except in zstd. Nothing is written outside `folder`, and the caller
 * removes it after a failure. Throws `invalid` with the reason for a pack that is damaged, hostile or beyond the limits,
 * `no-space`, and what `stream` fails with.
 */
export const unpackInto = async (
  stream: ReadableStream<Uint8Array>,
  folder: string,
  { limits, signal, onProgress }: UnpackOptions,
): Promise<readonly UnpackedFile[]> => {
  const meter = createMeter(limits)
  const names = createNames()
  const write = createSparseWriter()
  const files: UnpackedFile[] = []
  const folders = [folder]
  let rootNamed = false
  let done = 0

  const unpackFile = async ({ name, mode, modifiedAt, content }: Entry): Promise<void> => {
    await using file = await open(join(folder, name), newFile, 0o600 | (mode & 0o755))
    const sync = createSteadySync(file)
    const { size, sha256 } = await write(file, content(), {
      onWrite: meter.written,
      onWritten: sync.wrote,
      onContent: bytes => {
        signal?.throwIfAborted()
        done += bytes
        onProgress?.(done)
      },
    }).finally(sync.idle)
    if (modifiedAt) await file.utimes(modifiedAt, modifiedAt)
    await file.sync()
    files.push({ name, size, sha256 })
  }

  const unpackEntry = async (entry: Entry): Promise<void> => {
    signal?.throwIfAborted()
    if (entry.kind === 'folder' && entry.name === '' && !rootNamed) {
      rootNamed = true
      return
    }
    const missing = names.add(entry.name, entry.kind)
    meter.names(names.count)
    meter.file(entry.size)
    for (const name of missing) {
      await mkdir(join(folder, name), { mode: 0o700 })
      folders.push(join(folder, name))
    }
    if (entry.kind === 'file') await unpackFile(entry)
  }

  const pack = await openPack(stream, { onPacked: meter.packed, signal })
  try {
    const mayLackEnd = pack.format !== 'zstd'
    for await (const entry of entriesOf(createByteReader(pack.bytes), { mayLackEnd })) await unpackEntry(entry)
    for (const made of folders) await syncFolder(made)
  } catch (error) {
    if (isDiskFull(error))
      throw new ServiceError('no-space', 'There is not enough space on the disk to unpack. Make room, and try again.')
    throw error
  } finally {
    await pack.close()
  }
  return files
}
