import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from '#lib/platform/files.ts'
import type { MachineView } from '../driver.ts'
import { type Found, invalidView, type MachineFolders } from '../machine-folders.ts'
import { stateFileName } from './machine.ts'
import { keepRunNote, readRunNote, type RunNote } from './run-note.ts'

interface Recovered {
  readonly view: MachineView
  /** The state into which the machine is to be brought back. */
  readonly resume?: RunNote['resume']
}

/**
 * What became of a machine while the service was away. One that ran when the service died is stopped and has crashed;
 * a saved state counts unless its machine has run or has been stopped since.
 */
export const recover = async (folders: MachineFolders, found: Found): Promise<Recovered> => {
  const { id, home, definition } = found
  if (!definition) return { view: invalidView(found) }
  const note = await readRunNote(folders, id)
  const stateFile = join(home, stateFileName)
  await rm(`${stateFile}.tmp`, { force: true })
  const base = { id, name: definition.name, definition, home, addresses: [] }
  const saved = await exists(stateFile)

  if (saved && (!note || note.state === 'suspended')) {
    const { since = (await stat(stateFile)).mtimeMs, ranFor = 0, problem, resume } = note ?? {}
    const view = {
      ...base,
      state: 'suspended',
      stateFile,
      since,
      ranFor,
      ...(problem !== undefined && { problem }),
    } as const
    return { view, resume }
  }
  const crashed = note !== undefined && note.state !== 'stopped'
  const problem = crashed ? 'crashed' : note?.problem
  const since = crashed ? Date.now() : (note?.since ?? Date.parse(definition.created_at))
  const view = { ...base, state: 'stopped', since, ranFor: 0, ...(problem !== undefined && { problem }) } as const
  // Noted before the stale state goes, so that it is never taken for a good one.
  if (crashed) await keepRunNote(folders, view)
  if (saved) await rm(stateFile, { force: true })
  return { view }
}
