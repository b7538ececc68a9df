import type { FileHandle } from 'node:fs/promises'

/** Bytes between the starts of two syncs. */
const interval = 128 * 1024 * 1024

/** Syncs a file repeatedly while it is written, so that the sync at the end has little left to do. */
export interface PeriodicSync {
  /** Called after each write. Throws what an earlier sync failed with. */
  onWritten(bytes: number): Promise<void>
  /** Settles when no sync is running. The file must not be closed before that. Never throws. */
  waitForIdle(): Promise<void>
}

export const createPeriodicSync = (file: FileHandle): PeriodicSync => {
  let unsynced = 0
  let failure: { readonly error: unknown } | undefined
  let syncing: Promise<void> = Promise.resolve()
  return {
    async onWritten(bytes) {
      unsynced += bytes
      if (unsynced < interval) return
      unsynced = 0
      await syncing
      if (failure) throw failure.error
      syncing = file.datasync().catch((error: unknown) => {
        failure = { error }
      })
    },
    waitForIdle: () => syncing,
  }
}
