import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { findProgram } from '#lib/hypervisor/qemu/programs.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { createOk, createProblem, createWarning, type Finding } from '../finding.ts'
import type { Surroundings } from '../surroundings.ts'

/** Milliseconds that the clock may be behind what was written last. */
const tolerance = 60_000

/** What systemd says about the synchronization of the clock; undefined where it says nothing. */
const readSynchronized = async (): Promise<string | undefined> => {
  const program = await findProgram('timedatectl')
  if (program === undefined) return undefined
  const { code, stdout } = await runProcess(program, ['show', '--property=NTPSynchronized', '--value'], {
    timeout: 5_000,
  })
  return code === 0 ? stdout.trim() : undefined
}

/** Checks that the clock is right: tokens, certificates and assertions of a control depend on it. */
export const checkClock = async ({ settings }: Surroundings): Promise<Finding> => {
  const written = await stat(join(settings.state, 'store.db')).catch(() => undefined)
  const now = new Date()
  if (written && written.mtimeMs > now.getTime() + tolerance)
    return createProblem(
      `The clock says ${now.toISOString()}, and the store was written later, at ${written.mtime.toISOString()}. Tokens and certificates fail with a wrong clock.`,
      'timedatectl set-ntp true',
    )
  if ((await readSynchronized()) === 'no')
    return createWarning(
      'No time server keeps the clock right. Tokens and certificates fail with a wrong clock.',
      'timedatectl set-ntp true',
    )
  return createOk(now.toISOString())
}
