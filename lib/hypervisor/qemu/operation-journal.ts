import * as z from 'zod'
import type { MachineFolders } from '../files/machine-folders.ts'
import { fileNames } from './arguments.ts'

/** The last written state of a machine, for recovery after service and QEMU have ended. */
const PersistedState = z.object({
  state: z.enum(['stopped', 'running', 'paused', 'suspended', 'invalid']),
  since: z.number(),
  ranFor: z.number(),
  problem: z.string().optional(),
})
export type PersistedState = z.infer<typeof PersistedState>

/** The running operation. */
const Operation = z.object({
  verb: z.enum(['start', 'stop', 'restart', 'reset', 'pause', 'suspend', 'resume']),
  from: PersistedState.shape.state,
})
export type Operation = z.infer<typeof Operation>

/** Identifies the memory that a machine was suspended with. */
const SavedMemory = z.object({ suspension: z.uuid(), size: z.int().positive() })
export type SavedMemory = z.infer<typeof SavedMemory>

/** The persisted state and the operation journal of one machine. A write is durable when it resolves. */
export interface OperationJournal {
  readState(): Promise<PersistedState | undefined>
  readOperation(): Promise<Operation | undefined>
  /** Undefined also for memory that an older version saved without this file. */
  readMemory(): Promise<SavedMemory | undefined>
  /** `undefined` deletes the file and means stopped; that works on a full disk. */
  writeState(state: PersistedState | undefined): Promise<void>
  /** `undefined` marks the end of the operation. */
  writeOperation(operation: Operation | undefined): Promise<void>
  writeMemory(memory: SavedMemory): Promise<void>
}

export const openJournal = (folders: MachineFolders, id: string): OperationJournal => ({
  readState: async () => PersistedState.safeParse(await folders.readJson(id, 'run.json')).data,
  readOperation: async () => Operation.safeParse(await folders.readJson(id, 'op.json')).data,
  readMemory: async () => SavedMemory.safeParse(await folders.readJson(id, fileNames.stateInfo)).data,
  writeState: state => folders.writeJson(id, 'run.json', state),
  writeOperation: operation => folders.writeJson(id, 'op.json', operation),
  writeMemory: memory => folders.writeJson(id, fileNames.stateInfo, memory),
})
