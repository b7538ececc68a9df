import type { FileHandle } from 'node:fs/promises'

/** Bytes between two beginnings. */
const step = 128 * 1024 * 1024

/** Makes what is written to a file stay while more is written; at the end there is little left to wait for. */
export interface SteadySync {
  /** To be told of each write when it has ended. Throws what an earlier sync failed with. */
  wrote(bytes: number): Promise<void>
  /** Settles when no sync is under way any more: before that the file must not be closed. Never throws. */
  idle(): Promise<void>
}

export const createSteadySync = (file: FileHandle): SteadySync => {
  let unsynced = 0
  let failure: { readonly error: unknown } | undefined
  let syncing: Promise<void> = Promise.resolve()
  return {
    async wrote(bytes) {
      unsynced += bytes
      if (unsynced < step) return
      unsynced = 0
      await syncing
      if (failure) throw failure.error
      syncing = file.datasync().catch((error: unknown) => {
        failure = { error }
      })
    },
    idle: () => syncing,
  }
}
