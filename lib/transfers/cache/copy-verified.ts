import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { chmod, copyFile, mkdir, open, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isSystemError } from '#lib/platform/files.ts'
import { createSparseWriter } from '#lib/packs/sparse-file.ts'
import type { UnpackedFile } from '#lib/packs/unpacker.ts'

interface CopyOptions {
  readonly signal: AbortSignal | undefined
  /** Called with the number of bytes of files, with holes, that have been copied. */
  readonly onProgress: (bytes: number) => void
}

/** The errors of file systems that cannot share blocks, or not between these two files. */
const cannotShareCodes = ['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY', 'EPERM']

/** Copies a file by sharing its blocks. Returns false when the file system cannot do that. */
const shareBlocks = async (source: string, target: string): Promise<boolean> => {
  try {
    await copyFile(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE)
    return true
  } catch (error) {
    if (cannotShareCodes.some(code => isSystemError(error, code))) return false
    throw error
  }
}

const readFileStream = (path: string): AsyncIterable<Uint8Array> =>
  createReadStream(path, { highWaterMark: 1024 * 1024 })

const computeFileDigest = async (path: string, onBytes: (bytes: number) => void): Promise<string> => {
  const digest = createHash('sha256')
  for await (const chunk of readFileStream(path)) {
    digest.update(chunk)
    onBytes(chunk.byteLength)
  }
  return digest.digest('hex')
}

/**
 * Copies files with their modes into an empty folder and verifies their digests. It shares their blocks if the file system
 * can, and otherwise keeps their holes. Returns the name of the first file with a wrong digest and copies nothing after it.
 * Returns undefined when all files are right.
 */
export const copyVerified = async (
  files: readonly UnpackedFile[],
  sourceFolder: string,
  targetFolder: string,
  { signal, onProgress: onTotal }: CopyOptions,
): Promise<string | undefined> => {
  const writeSparse = createSparseWriter()
  let done = 0
  const onProgress = (bytes: number): void => {
    signal?.throwIfAborted()
    done += bytes
    onTotal(done)
  }
  for (const { name, sha256 } of files) {
    signal?.throwIfAborted()
    const [source, target] = [join(sourceFolder, name), join(targetFolder, name)]
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    let copiedSha256: string
    if (await shareBlocks(source, target)) copiedSha256 = await computeFileDigest(target, onProgress)
    else {
      const digest = createHash('sha256')
      await using file = await open(target, 'wx', 0o600)
      const onData = (bytes: Uint8Array): void => void digest.update(bytes)
      await writeSparse(file, readFileStream(source), { onWrite: () => {}, onProgress, onData })
      copiedSha256 = digest.digest('hex')
    }
    // The mode is set here, so that it does not depend on whether the blocks are shared.
    await chmod(target, 0o600 | ((await stat(source)).mode & 0o755))
    if (copiedSha256 !== sha256) return name
  }
  return undefined
}

/** Measures the bytes that files take on disk, without holes. */
export const measureSizeOnDisk = async (files: readonly UnpackedFile[], folder: string): Promise<number> => {
  const sizes = await Promise.all(files.map(async ({ name }) => (await stat(join(folder, name))).blocks * 512))
  return sizes.reduce((sum, size) => sum + size, 0)
}
