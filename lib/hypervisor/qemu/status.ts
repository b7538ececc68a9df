import * as z from 'zod'
import type { StableState } from '../driver.ts'

/** The used part of QEMU's reply to `query-status`. */
export const QemuStatus = z.object({ status: z.string() })

/** Maps the status of QEMU to the state and problem of the machine. */
export const toMachineState = (status: string): { state: StableState; problem?: string } => {
  switch (status) {
    case 'running':
      return { state: 'running' }
    case 'inmigrate':
      return { state: 'paused', problem: 'its saved memory is being loaded; then it continues by itself' }
    case 'io-error':
      return { state: 'paused', problem: 'the disk of the host is full or failing; free space, then resume' }
    case 'guest-panicked':
      return { state: 'paused', problem: 'the guest panicked' }
    case 'internal-error':
      return { state: 'paused', problem: 'QEMU met an internal error' }
    default:
      return { state: 'paused' }
  }
}

/** The problem of a machine whose QEMU has exited for an unknown reason. */
export const crashProblem = 'crashed: QEMU ended without being asked to'

/** Start of the problem of a machine whose QEMU runs but does not answer. */
export const noAnswerProblem = 'QEMU runs but does not answer'
