import type { StableState } from '../driver.ts'

/** What a running QEMU says of its guest, as the state that the machine has for us. */
export const shownState = (status: string): { state: StableState; problem?: string } => {
  switch (status) {
    case 'running':
      return { state: 'running' }
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

/** The problem of a machine whose QEMU is gone, and nobody knows why. */
export const crashed = 'crashed: QEMU ended without being asked to'
