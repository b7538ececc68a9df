import { ServiceError } from '#lib/errors.ts'
import { type Connection, parseConnection } from '#lib/objects/port/connection.ts'
import type { PushManifest } from './schemas.ts'

/** The connection of a push. It has a storage, and beside a catalog manager no service. Throws `invalid` for another one. */
export const parsePushConnection = (
  { connection }: Pick<PushManifest, 'connection'>,
  hasManager: boolean,
): Connection & Required<Pick<Connection, 'storage'>> => {
  const { service, storage } = parseConnection(connection)
  if (service && hasManager)
    throw new ServiceError(
      'invalid',
      'The connection of a push through a catalog manager names only a provider, because the manager is the host.',
    )
  if (!storage)
    throw new ServiceError('invalid', 'The connection names no provider, so the pack cannot be stored anywhere.')
  return { ...(service && { service }), storage }
}
