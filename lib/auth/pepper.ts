import { randomBytes } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { KeyKeeper } from './key-keeper.ts'

const name = 'api-keys.pepper'
const size = 32

/**
 * Reads the random bytes that the first start creates. Throws `unavailable` when they are damaged, because no API key would
 * match then.
 */
export const loadPepper = async (keeper: KeyKeeper): Promise<Uint8Array> => {
  const stored = await keeper.load(name)
  const pepper = stored ?? randomBytes(size)
  if (!stored) await keeper.save(name, pepper)
  if (pepper.length !== size)
    throw new ServiceError(
      'unavailable',
      `${keeper.locate(name)} is damaged; put it back as it was, or API keys stop working.`,
    )
  return pepper
}
