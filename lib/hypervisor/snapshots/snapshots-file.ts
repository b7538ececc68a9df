import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { readStateFile } from '#lib/platform/open-file.ts'
import { describeFirstMistake } from '#lib/schema-errors.ts'
import { SnapshotTree } from '../snapshot.ts'

/** The file with the snapshots of a machine, in its folder. */
export const snapshotsFile = 'snapshots.json'

/** Returns the name of a file that belongs to a snapshot, such as its memory. */
export const getSnapshotFile = (snapshot: string, extension: string): string => `snapshot-${snapshot}.${extension}`

const ownPattern = /^snapshot-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[a-z]+$/

/** More than the snapshots of one machine can need. */
const maxBytes = 64 * 2 ** 20

/**
 * Reads the snapshots of the machine in a folder; undefined if it has never had one. Throws `conflict` for a damaged file: without it
 * nobody knows which images belong to snapshots.
 */
export const readSnapshots = async (home: string): Promise<SnapshotTree | undefined> => {
  const path = join(home, snapshotsFile)
  const text = await readStateFile(path, maxBytes)
  if (text === undefined) return undefined
  const refuse = (why: string, cause?: unknown): never => {
    throw new ServiceError('conflict', `${path} cannot be read: ${why}. Put the right file back.`, { cause })
  }
  const parse = (): unknown => {
    try {
      return JSON.parse(text)
    } catch (error) {
      return refuse('it is no JSON', error)
    }
  }
  const { data, error } = SnapshotTree.safeParse(parse())
  return data ?? refuse(describeFirstMistake(error))
}

/** Deletes the files of snapshots that the machine does not have: of deleted ones, and of those that were not completed. */
export const deleteUnlistedFiles = async (home: string, tree: SnapshotTree | undefined): Promise<void> => {
  const listed = new Set(tree?.snapshots.map(({ id }) => id))
  for (const name of await readdir(home)) {
    const id = ownPattern.exec(name)?.[1]
    if (id !== undefined && !listed.has(id)) await rm(join(home, name), { force: true })
  }
}
