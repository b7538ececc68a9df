import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { chmod, copyFile, mkdir, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isSystemError } from '#lib/platform/files.ts'
import { createSparseWriter } from '#lib/packs/sparse-file.ts'
import type { UnpackedFile } from '#lib/packs/unpacker.ts'

interface CopyOptions {
  readonly signal: AbortSignal | undefined
  /** Is told how many bytes of files, holes included, are copied. */
  readonly onProgress: (bytes: number) => void
}

/** Where a file system does not share blocks, or not between these places. */
const cannotShare = ['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY', 'EPERM']

const shareBlocks = async (from: string, to: string): Promise<boolean> => {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE)
    return true
  } catch (error) {
    if (cannotShare.some(code => isSystemError(error, code))) return false
    throw error
  }
}

const chunks = (path: string): AsyncIterable<Uint8Array> => createReadStream(path, { highWaterMark: 1024 * 1024 })

const digestOf = async (path: string, onContent: (bytes: number) => void): Promise<string> => {
  const digest = createHash('sha256')
  for await (const chunk of chunks(path)) {
    digest.update(chunk)
    onContent(chunk.byteLength)
  }
  return digest.digest('hex')
}

/**
 * Copies files with their modes into an empty folder, sharing their blocks where the file system can and leaving out their
 * holes where not.
 * Gives the first one that is not what its SHA-256 says, after which nothing more is copied; undefined when all are right.
 */
export const copyVerified = async (
  files: readonly UnpackedFile[],
  from: string,
  to: string,
  { signal, onProgress }: CopyOptions,
): Promise<string | undefined> => {
  const write = createSparseWriter()
  let done = 0
  const onContent = (bytes: number): void => {
    signal?.throwIfAborted()
    done += bytes
    onProgress(done)
  }
  for (const { name, sha256 } of files) {
    signal?.throwIfAborted()
    const [source, target] = [join(from, name), join(to, name)]
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    let found: string
    if (await shareBlocks(source, target)) found = await digestOf(target, onContent)
    else {
      const digest = createHash('sha256')
      await using file = await open(target, 'wx', 0o600)
      await write(file, chunks(source), { onWrite: () => {}, onContent, onBytes: bytes => digest.update(bytes) })
      found = digest.digest('hex')
    }
    // The same whether blocks are shared or not.
    await chmod(target, 0o600 | ((await stat(source)).mode & 0o755))
    if (found !== sha256) return name
  }
  return undefined
}

/** Bytes that files take on disk, holes not counted. */
export const sizeOnDisk = async (files: readonly UnpackedFile[], folder: string): Promise<number> => {
  const sizes = await Promise.all(files.map(async ({ name }) => (await stat(join(folder, name))).blocks * 512))
  return sizes.reduce((sum, size) => sum + size, 0)
}
