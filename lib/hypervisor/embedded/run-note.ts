import * as z from 'zod'
import type { MachineView } from '../driver.ts'
import type { MachineFolders } from '../machine-folders.ts'

const RunNote = z.object({
  state: z.enum(['stopped', 'running', 'paused', 'suspended']),
  since: z.number(),
  ranFor: z.number(),
  problem: z.string().optional(),
  /** The state into which the next start of the service brings a machine that was suspended because the service stopped. */
  resume: z.enum(['running', 'paused']).optional(),
})
export type RunNote = z.infer<typeof RunNote>

const file = 'run.json'

/** Keeps what a machine is doing, so that the next start of the service knows what it was doing when this one ended. */
export const keepRunNote = (folders: MachineFolders, view: MachineView, resume?: RunNote['resume']): Promise<void> => {
  const { state, since, ranFor, problem } = view
  return folders.note(view.id, file, { state, since, ranFor, problem, resume })
}

/** What was kept last; undefined for a machine that has never run. */
export const readRunNote = async (folders: MachineFolders, id: string): Promise<RunNote | undefined> =>
  RunNote.safeParse(await folders.noted(id, file)).data
