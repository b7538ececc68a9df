import { join } from 'node:path'
import type { SnapshotTree } from '../../snapshot.ts'
import { getSnapshotFile } from '../../snapshots/snapshots-file.ts'

/** Returns the name of the file with the memory of a snapshot. */
export const getMemoryFile = (snapshot: string): string => getSnapshotFile(snapshot, 'mem')

/** Returns the name of the file with the firmware variables of a snapshot. */
export const getVariablesFile = (snapshot: string): string => getSnapshotFile(snapshot, 'fd')

/** Returns the paths of the base images in a folder that are the disks of these snapshots. */
export const listSnapshotLayers = (home: string, tree: SnapshotTree | undefined): readonly string[] =>
  (tree?.snapshots ?? []).flatMap(({ layers }) => Object.values(layers)).map(name => join(home, name))
