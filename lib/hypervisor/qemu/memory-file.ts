import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { renameSynced } from '#lib/platform/files.ts'
import { openFile, type OpenFile } from '#lib/platform/open-file.ts'
import { fileNames } from './file-names.ts'
import type { OperationJournal, SavedMemory } from './operation-journal.ts'

/**
 * Saved memory is valid only together with the disks as they were when it was saved. So its file begins with a header that names
 * the machine and the suspension, and `stateInfo` in the machine's folder contains the expected suspension and file size.
 */

/** The machine that saved memory belongs to. */
export interface MemoryOwner {
  readonly id: string
  readonly home: string
  readonly journal: Pick<OperationJournal, 'readMemory' | 'writeMemory'>
}

/** Bytes of the header. The data of QEMU follows. */
const headerSize = 512

/** Returns the header of the memory of a machine. */
export const buildHeader = (machine: string, suspension: string): Buffer =>
  Buffer.from(`vmhost QEMU memory 1\n${JSON.stringify({ machine, suspension })}\n`.padEnd(headerSize))

/**
 * The start of QEMU's data (QEMU_VM_FILE_MAGIC in migration/qemu-file.h). Files of older versions, without header, begin with
 * it.
 */
const magic = 'QEVM'

/** A file that memory is saved to. Disposing closes it. */
export interface MemoryFile extends AsyncDisposable {
  /** Positioned behind the header. */
  readonly handle: OpenFile['handle']
  /** Renames the complete, durable file to its final name and writes `stateInfo`. */
  finish(): Promise<void>
}

/** Creates the file for the next saved memory of a machine. Throws errors of the file system. */
export const createMemoryFile = async ({ id, home, journal }: MemoryOwner): Promise<MemoryFile> => {
  const suspension = crypto.randomUUID()
  const unfinishedPath = join(home, fileNames.unfinishedState)
  const handle = await open(unfinishedPath, 'wx', 0o600)
  try {
    await handle.writeFile(buildHeader(id, suspension))
  } catch (error) {
    await handle.close()
    throw error
  }
  return {
    handle,
    async finish() {
      const { size } = await handle.stat()
      await renameSynced(unfinishedPath, join(home, fileNames.stateFile))
      await journal.writeMemory({ suspension, size })
    },
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

/**
 * Throws `conflict` if an open file is not this memory of the machine with this id. Positions the file behind the header.
 */
const validateMemory = async (
  { path, handle, size }: OpenFile,
  id: string,
  info: SavedMemory | undefined,
): Promise<void> => {
  const refuse = (what: string): never => {
    throw new ServiceError('conflict', `${path} ${what}. Put the right file back.`)
  }
  const start = Buffer.alloc(headerSize)
  await handle.read(start, 0, headerSize, 0)
  if (info === undefined) {
    if (start.toString('latin1', 0, magic.length) !== magic) refuse('is not the memory of this machine')
    return
  }
  if (!start.equals(buildHeader(id, info.suspension))) refuse('is not the memory that was saved of this machine')
  if (size !== info.size) refuse(`has ${size} bytes, and had ${info.size} when it was saved`)
  // A read without a position moves the file position, which QEMU inherits.
  await handle.read(start, 0, headerSize, null)
}

/**
 * Opens a file with saved memory of the machine with this id for QEMU to inherit. Throws `conflict` if it is missing, not a regular
 * file, truncated, or other memory than `info` says.
 */
export const openMemoryFile = async (path: string, id: string, info: SavedMemory | undefined): Promise<OpenFile> => {
  const file = await openFile(path).catch((error: unknown) => {
    throw new ServiceError('conflict', `Its saved memory cannot be read: ${messageOf(error)}`, { cause: error })
  })
  try {
    await validateMemory(file, id, info)
    return file
  } catch (error) {
    await file[Symbol.asyncDispose]()
    throw error
  }
}

/** Opens the memory that a machine was suspended with. Throws as `openMemoryFile`. */
export const openMemory = async ({ id, home, journal }: MemoryOwner): Promise<OpenFile> =>
  openMemoryFile(join(home, fileNames.stateFile), id, await journal.readMemory())
