import * as z from 'zod'
import type { Audit } from '#lib/audit/audit.ts'
import type { Store } from '#lib/storage/store.ts'
import type { Check } from '#lib/health/health.ts'

/**
 * Creates a check that writes an entry to the store and reads it back from the disk. It fails at once if the store has reported a
 * failure. The store keeps only the last entry.
 */
export const createStoreCheck = (store: Pick<Store, 'log' | 'commit' | 'failure' | 'damage'>): Check => {
  const entries = store.log('health', z.object({ at: z.string() }))
  return async () => {
    const problem = store.failure ?? store.damage
    if (problem !== undefined) throw new Error(problem)
    const at = new Date().toISOString()
    await store.commit([entries.append(() => ({ at })), entries.forget(entries.head())])
    const [last] = entries.readBack(entries.head() + 1, 1)
    if (last?.at !== at) throw new Error('what was written was not read back')
    return 'open'
  }
}

/** Creates a check that fails if entries of the audit are missing. */
export const createAuditCheck =
  (audit: Pick<Audit, 'failure'>): Check =>
  async () => {
    const problem = audit.failure()
    if (problem !== undefined) throw new Error(problem)
    return 'kept'
  }
