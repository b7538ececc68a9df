import type { Principal } from '#lib/access/principal.ts'
import { assertMayEnter } from '../access.ts'
import type { MachineContext } from '../context.ts'
import type { CloudInitStatus } from './cloud-init-schemas.ts'
import { readCloudInitStatus } from './cloud-init-status.ts'
import { createEnterGuest } from './enter-guest.ts'
import { executeInGuest } from './execute.ts'
import type { ExecuteInMachine, ExecuteResult } from './execute-schemas.ts'
import type { WrittenFile } from './file-schemas.ts'
import { type GuestFileContent, readGuestFile } from './read-file.ts'
import { type NewGuestFile, writeGuestFile } from './write-file.ts'

/** What callers do in the guests of running machines, through their agents. Each call throws as `EnterGuest` too. */
export interface GuestCalls {
  /** Throws `not-found`, and `forbidden` unless the caller may enter the machine (see `assertMayEnter`). */
  assertMayEnter(reference: string, caller: Principal): void
  /** Runs a command in a machine (see `executeInGuest`). */
  execute(
    reference: string,
    caller: Principal,
    request: ExecuteInMachine,
    signal: AbortSignal | undefined,
  ): Promise<ExecuteResult>
  /** Returns how far the cloud-init of a guest is (see `readCloudInitStatus`). */
  readCloudInitStatus(reference: string, caller: Principal, signal: AbortSignal): Promise<CloudInitStatus>
  /** Opens a file of a machine's guest (see `readGuestFile`). */
  readFile(
    reference: string,
    caller: Principal,
    path: string,
    options: { readonly withDigest: boolean; readonly signal: AbortSignal },
  ): Promise<GuestFileContent>
  /**
   * Writes a file of a machine's guest (see `writeGuestFile`). `reauthenticate` gives the caller with the rights at the end of
   * the content, whose sender decides how long it takes.
   */
  writeFile(
    reference: string,
    caller: Principal,
    file: NewGuestFile,
    options: { readonly signal: AbortSignal; readonly reauthenticate: () => Promise<Principal> },
  ): Promise<WrittenFile>
}

export const createGuestCalls = ({ driver, inventory }: Pick<MachineContext, 'driver' | 'inventory'>): GuestCalls => {
  const enterGuest = createEnterGuest({ driver, inventory })
  return {
    assertMayEnter: (reference, caller) => assertMayEnter(caller, inventory.find(reference)),
    async execute(reference, caller, request, signal) {
      using guest = await enterGuest(reference, caller)
      return await executeInGuest(guest, request, signal)
    },
    async readCloudInitStatus(reference, caller, signal) {
      using guest = await enterGuest(reference, caller)
      return await readCloudInitStatus(guest, signal)
    },
    async readFile(reference, caller, path, options) {
      return readGuestFile(await enterGuest(reference, caller), path, options)
    },
    async writeFile(reference, caller, file, { signal, reauthenticate }) {
      using guest = await enterGuest(reference, caller)
      const confirm = async (): Promise<void> => assertMayEnter(await reauthenticate(), inventory.find(reference))
      return await writeGuestFile(guest, file, { signal, confirm })
    },
  }
}
