import { createHmac, pbkdf2 } from 'node:crypto'
import { promisify } from 'node:util'
import * as z from 'zod'
import type { Store, Stored } from '#lib/storage/store.ts'
import { digestSize } from './hash-methods.ts'
import type { User } from './directory-schemas.ts'

/**
 * Remembers that the configured password was applied to root. A start should not cost as much as a sign-in, and where starts are no
 * deed of the operator, a password that root has set since then stays.
 */
export interface RootConfirmation {
  /** Whether this password was confirmed and is still to count as applied. */
  isConfirmed(root: User, password: string): Promise<boolean>
  /** Remembers that root has this password. A failure has no effect but that the next start compares again. */
  confirm(root: User, password: string): Promise<void>
}

const Confirmation = z.object({ id: z.uuid(), digest: z.string() })

/**
 * The most iterations that every platform allows. Who has the database alone cannot guess at a password with the digest,
 * because the pepper is not in it. Who has the pepper too can sign every token, and still each guess costs this.
 */
const iterations = 100_000

const stretch = promisify(pbkdf2)

/**
 * When a configured password is applied: at each start at which root has another one, or once, which is until another value is
 * configured.
 */
export type RootPasswordUse = 'at each start' | 'once'

export const createRootConfirmation = (store: Store, pepper: Uint8Array, use: RootPasswordUse): RootConfirmation => {
  const confirmations = store.collection('root-confirmations', Confirmation)
  // The stored hash changes with each change of the password, also to the same one; the id never does.
  const getSalt = ({ id, password: hash = '' }: User): string => (use === 'once' ? id : hash)
  const computeDigest = async (root: User, password: string): Promise<string> =>
    createHmac('sha256', pepper)
      .update(await stretch(password, getSalt(root), iterations, digestSize, 'sha256'))
      .digest('base64url')
  return {
    async isConfirmed(root, password) {
      const stored = await confirmations.get(root.id)
      return stored !== undefined && stored.digest === (await computeDigest(root, password))
    },
    async confirm(root, password) {
      const stored: Stored | undefined = await confirmations.get(root.id)
      const confirmation = { id: root.id, digest: await computeDigest(root, password) }
      await store.commit([confirmations.put({ ...confirmation, ...(stored && { rev: stored.rev }) })]).catch(() => {})
    },
  }
}
