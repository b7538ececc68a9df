import { join } from 'node:path'
import { getSnapshotFile } from '../../snapshots/snapshots-file.ts'
import { stateFileName } from '../machine-state.ts'

/** Returns the name of the file with the disk of a snapshot. */
export const getDiskFile = (snapshot: string): string => getSnapshotFile(snapshot, 'img')

/** Returns the name of the file with the saved state of a snapshot. */
export const getStateFile = (snapshot: string): string => getSnapshotFile(snapshot, 'state')

/** Returns the path of the saved state of the machine in `home`. */
export const getSavedState = (home: string): string => join(home, stateFileName)

/** Returns the path at which a revert makes the file that takes the place of this one. */
export const getUnfinishedPath = (path: string): string => `${path}.new`
