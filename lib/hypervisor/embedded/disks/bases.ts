import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createKeyCounts } from '#lib/async/key-counts.ts'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import { exists, renameSynced, syncFile } from '#lib/platform/files.ts'
import type { MachineView } from '../../driver.ts'
import { explainFileError } from '../../files/file-faults.ts'
import { copyContent, hashContent } from './content.ts'
import type { MachineDisk } from './machine-disk.ts'

/**
 * The base images of linked clones, in the folders of their sources. The first linked clone of a source copies its disk to a base
 * image; further ones share it as long as the disk has the same content. The source itself goes on with its own disk.
 */
export interface DiskBases {
  /**
   * Returns a base image that has the content of the machine's disk, and its name. The image is not deleted before the handle is
   * disposed of. Throws `no-space`, and the reason of the signal.
   */
  hold(view: Pick<MachineView, 'id' | 'home'>, disk: MachineDisk, signal: AbortSignal): Promise<HeldBase>
  /** Deletes the base images of a machine that no linked clone uses. */
  deleteUnused(id: string): Promise<void>
}

/** A base image that is not deleted before it is disposed of. */
export interface HeldBase extends AsyncDisposable {
  readonly name: string
}

interface Options {
  /** Returns the folder of a machine. */
  readonly getHome: (id: string) => string
  /** Returns the base images of a machine that linked clones use; undefined if that is not known of every clone. */
  readonly listUsed: (id: string) => readonly string[] | undefined
}

const basePattern = /^base-[0-9a-f]{64}\.img$/
/** The file that becomes a base image. A start of the service deletes what a killed one has left of it. */
export const unfinishedBase = 'base.new'

/** Creates the file `path` with the content of a disk, complete or not at all. */
const createBase = async (disk: MachineDisk, home: string, path: string, signal: AbortSignal): Promise<void> => {
  const unfinished = join(home, unfinishedBase)
  // What a killed service left.
  await rm(unfinished, { force: true })
  try {
    await copyContent(disk, unfinished, signal)
    await syncFile(unfinished)
    await renameSynced(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw await explainFileError(error, home)
  }
}

export const createDiskBases = ({ getHome, listUsed }: Options): DiskBases => {
  const withLock = createKeyedMutex()
  /** The base images that somebody holds, by their paths. */
  const held = createKeyCounts()
  const deleteUnusedNow = async (id: string): Promise<void> => {
    const used = listUsed(id)
    if (!used) return
    const home = getHome(id)
    for (const name of await readdir(home)) {
      const isUsed = used.includes(name) || held.get(join(home, name)) > 0
      if (basePattern.test(name) && !isUsed) await rm(join(home, name), { force: true })
    }
  }
  const deleteUnused = (id: string): Promise<void> => withLock(id, () => deleteUnusedNow(id))
  return {
    hold: ({ id, home }, disk, signal) =>
      withLock(
        id,
        async () => {
          const name = `base-${await hashContent(disk, signal)}.img`
          if (!(await exists(join(home, name)))) await createBase(disk, home, join(home, name), signal)
          const holding = held.add(join(home, name))
          return {
            name,
            async [Symbol.asyncDispose]() {
              holding[Symbol.dispose]()
              // The disk had another content before, or nothing was made of it. What cannot be deleted now is deleted later.
              await deleteUnused(id).catch(() => {})
            },
          }
        },
        signal,
      ),
    deleteUnused,
  }
}
