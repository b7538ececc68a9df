import { join } from 'node:path'
import { limitLogSize } from '../files/serial-log.ts'
import { fileNames } from './file-names.ts'

/**
 * The machines whose QEMU was started by an older version and writes its serial log itself, until the machine is started
 * again.
 */
export interface LegacyLogs extends Disposable {
  add(id: string): void
  delete(id: string): void
  has(id: string): boolean
}

const checkInterval = 1_000

/** Limits the size of these logs to `limit` bytes as long as the service runs, since QEMU only appends to them. */
export const watchLegacyLogs = (machinesFolder: string, limit: number): LegacyLogs => {
  const ids = new Set<string>()
  const timer = setInterval(() => {
    for (const id of ids) limitLogSize(join(machinesFolder, id, fileNames.serialLog), limit)
  }, checkInterval)
  timer.unref()
  return {
    add: id => void ids.add(id),
    delete: id => void ids.delete(id),
    has: id => ids.has(id),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}
