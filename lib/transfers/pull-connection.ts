import { ServiceError } from '#lib/errors.ts'
import { type Connection, parseConnection } from '#lib/objects/port/connection.ts'
import type { PullManifest } from './schemas.ts'

/** The connection of a pull, empty when it has none. Throws `invalid`. */
export const parsePullConnection = (
  { connection }: Pick<PullManifest, 'connection'>,
  hasManager: boolean,
): Connection => {
  if (connection === undefined) return {}
  if (hasManager)
    throw new ServiceError(
      'invalid',
      'A pull through a catalog manager takes no connection, because the manager is the connection.',
    )
  return parseConnection(connection)
}
