import memoryDriver from 'unstorage/drivers/memory'
import type { CommitDriver } from '#lib/storage/create-store.ts'
import { isDocumentRow, isLogRow } from '#lib/storage/rows.ts'
import { createMemoryLogs } from '#lib/storage/memory-logs.ts'

/** A storage driver in memory that fails on demand. */
export interface FailingDriver extends CommitDriver {
  /** Called before each commit. If it throws, nothing is written. */
  fail: (essential: boolean) => void
  /** The result of `hasRoomForFollowUp`. */
  hasRoom: boolean
}

export const createFailingDriver = (): FailingDriver => {
  const memory = memoryDriver()
  const logs = createMemoryLogs()
  const driver: FailingDriver = {
    ...memory,
    fail: () => {},
    hasRoom: true,
    logs,
    shortage: () => undefined,
    hasRoomForFollowUp: () => driver.hasRoom,
    commit(rows, essential) {
      driver.fail(essential)
      logs.write(rows.filter(isLogRow))
      for (const { key, value } of rows.filter(isDocumentRow))
        if (value === undefined) void memory.removeItem!(key, {})
        else void memory.setItem!(key, value, {})
    },
  }
  return driver
}
