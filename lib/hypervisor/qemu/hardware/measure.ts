import * as z from 'zod'
import { readProcessUsage } from '#lib/platform/process-usage.ts'
import type { Agent } from '../../agent/agent.ts'
import type { MachineUsage, MachineView } from '../../driver.ts'
import type { RunningQemu } from '../process.ts'
import { measureCards } from './measure-cards.ts'

/** The used part of QEMU's reply to `query-blockstats`. */
const BlockStatistics = z.array(z.object({ stats: z.object({ rd_bytes: z.number(), wr_bytes: z.number() }) }))

/** Milliseconds that QEMU has to answer. One that is stopped or busy is not waited for. */
const timeout = 1_000

/** Measures a QEMU process, its disks and its network cards. Resolves to undefined if QEMU does not answer. */
export const measureQemu = async (
  { pid, qmp }: RunningQemu,
  { state, definition }: Pick<MachineView, 'state' | 'definition'>,
  agent: Agent | undefined,
): Promise<MachineUsage | undefined> => {
  const [usage, disks, networks] = await Promise.all([
    readProcessUsage(pid),
    qmp.query('query-blockstats', BlockStatistics, timeout).catch(() => undefined),
    // The agent of a paused guest does not answer.
    measureCards(definition, state === 'running' ? agent : undefined),
  ])
  if (!usage || !disks) return undefined
  return {
    ...usage,
    diskBytesRead: disks.reduce((sum, { stats }) => sum + stats.rd_bytes, 0),
    diskBytesWritten: disks.reduce((sum, { stats }) => sum + stats.wr_bytes, 0),
    networks,
  }
}
