import * as z from 'zod'
import type { MachineFolders } from '../files/machine-folders.ts'
import { fileNames } from './file-names.ts'

const stateFile = 'run.json'
const operationFile = 'op.json'

/** The state of a machine, for the recovery after service and QEMU have ended. */
const PersistedState = z.object({
  state: z.enum(['stopped', 'running', 'paused', 'suspended', 'invalid']),
  since: z.number(),
  ranFor: z.number(),
  problem: z.string().optional(),
})
export type PersistedState = z.infer<typeof PersistedState>

/** The operation that a machine runs. A start that finds one recovers from it. */
const JournaledOperation = z.object({
  verb: z.enum(['start', 'stop', 'restart', 'reset', 'pause', 'suspend', 'resume', 'snapshot', 'fork', 'merge']),
  /** The state from which the operation started. */
  from: PersistedState.shape.state,
})
export type JournaledOperation = z.infer<typeof JournaledOperation>

/** Identifies the file with the memory of a suspended machine. */
const SavedMemory = z.object({ suspension: z.uuid(), size: z.int().positive() })
export type SavedMemory = z.infer<typeof SavedMemory>

/** The files in which one machine records its state, its operation and its saved memory. A write is durable when it resolves. */
export interface OperationJournal {
  readState(): Promise<PersistedState | undefined>
  readOperation(): Promise<JournaledOperation | undefined>
  /** Returns undefined also for memory that an older version of the service saved, which wrote no such file. */
  readMemory(): Promise<SavedMemory | undefined>
  /** `undefined` means stopped. It deletes the file, which works on a full disk too. */
  writeState(state: PersistedState | undefined): Promise<void>
  /** `undefined` marks the end of the operation. */
  writeOperation(operation: JournaledOperation | undefined): Promise<void>
  writeMemory(memory: SavedMemory): Promise<void>
}

/** Creates the journal of the machine with this id. */
export const createJournal = (folders: MachineFolders, id: string): OperationJournal => ({
  readState: async () => PersistedState.safeParse(await folders.readJson(id, stateFile)).data,
  readOperation: async () => JournaledOperation.safeParse(await folders.readJson(id, operationFile)).data,
  readMemory: async () => SavedMemory.safeParse(await folders.readJson(id, fileNames.stateInfo)).data,
  writeState: state => folders.writeJson(id, stateFile, state),
  writeOperation: operation => folders.writeJson(id, operationFile, operation),
  writeMemory: memory => folders.writeJson(id, fileNames.stateInfo, memory),
})
