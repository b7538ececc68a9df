import * as z from 'zod'
import type { MachineView } from '../driver.ts'
import type { MachineFolders } from '../files/machine-folders.ts'

const PersistedState = z.object({
  state: z.enum(['stopped', 'running', 'paused', 'suspended']),
  since: z.number(),
  ranFor: z.number(),
  problem: z.string().optional(),
  /** Set if the machine was suspended because the service stopped: the state to restore at the next start. */
  resume: z.enum(['running', 'paused']).optional(),
})
export type PersistedState = z.infer<typeof PersistedState>

const fileName = 'run.json'

/** Writes the state of a machine, so that the next start of the service can recover it. Throws as `writeJson`. */
export const writePersistedState = (
  folders: MachineFolders,
  view: Pick<MachineView, 'id' | 'state' | 'since' | 'ranFor' | 'problem'>,
  resume?: PersistedState['resume'],
): Promise<void> => {
  const { state, since, ranFor, problem } = view
  return folders.writeJson(view.id, fileName, { state, since, ranFor, problem, resume })
}

/** Reads the last written state; undefined for a machine that has never run. */
export const readPersistedState = async (folders: MachineFolders, id: string): Promise<PersistedState | undefined> =>
  PersistedState.safeParse(await folders.readJson(id, fileName)).data
