import { readdirSync } from 'node:fs'
import { readCommandLine } from '#lib/platform/processes.ts'

/** Returns the pids of the passt processes of a machine. */
export const listPassts = async (id: string): Promise<readonly number[]> => {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  const lines = await Promise.all(pids.map(async pid => [pid, await readCommandLine(pid)] as const))
  return lines.flatMap(([pid, line]) => (line?.includes(`--socket ${id}.`) ? [pid] : []))
}
