import { existsSync } from 'node:fs'
import { ServiceError } from '#lib/errors.ts'
import { UnreadableDatabase } from '../database-file.ts'
import { findNewestVersion, migrations } from '../migrations.ts'
import { verifyDatabase, type VerifiedContent } from '../prepare-database.ts'
import type { SealSecrets } from '../wrapped-key.ts'

/**
 * Reads and verifies a whole copy of a store. Throws `invalid` if there is none or if it is damaged, and `unavailable` if these secrets
 * do not open it.
 */
export const verifyCopy = async (copy: string, secrets: SealSecrets | undefined): Promise<VerifiedContent> => {
  if (!existsSync(copy)) throw new ServiceError('invalid', `There is no file ${copy}.`)
  try {
    return await verifyDatabase(copy, secrets, findNewestVersion(migrations))
  } catch (error) {
    if (!(error instanceof UnreadableDatabase)) throw error
    throw new ServiceError(
      'invalid',
      `${copy} is no copy of a store that can be used: ${error.reason}. Nothing was changed; name another copy.`,
      { cause: error },
    )
  }
}
