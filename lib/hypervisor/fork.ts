import type { CloneIdentity, Definition } from './definition.ts'
import type { MachineView } from './driver.ts'

/** Who and what a fork of a machine is. The driver chooses an id that is left out, so that a process can wait for a fork. */
export type NewFork = Omit<CloneIdentity, 'id'> &
  Partial<Pick<Definition, 'id' | 'labels' | 'ephemeral' | 'expires_at'>>

/** The machines that a fork has made, and their source afterwards. */
export interface ForkedMachines {
  readonly source: MachineView
  readonly forks: readonly MachineView[]
}

/** The part of a driver that forks machines. */
export interface ForkDriver {
  /**
   * Makes running copies of a running or paused machine, all of the same moment, or none. The source has a pause; then it is as it
   * was. Each fork has its own id, `vmgenid` and MAC addresses, and no forwards. A card of a fork is disconnected until the guest
   * has taken the new one; the guest agent, if it answers, gets the new host name and machine id at the same time.
   * Throws `conflict` and `unsupported` with what prevents it.
   */
  fork(id: string, forks: readonly NewFork[], deadline: AbortSignal): Promise<ForkedMachines>
  /**
   * Makes running machines of a snapshot of a machine, all or none. With memory they go on from the moment of the snapshot, with an
   * identity of their own as in `fork`; without memory they boot. The machine may be in any state and does not change; other calls
   * that only read it may run beside this one. Throws `conflict` and `unsupported` with what prevents it.
   */
  forkSnapshot(id: string, snapshot: string, forks: readonly NewFork[], deadline: AbortSignal): Promise<ForkedMachines>
}
