import { redactConnection } from '#lib/objects/port/connection.ts'
import type { PullManifest, PushManifest } from './schemas.ts'

const known = (members: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(members).filter((pair): pair is [string, string] => pair[1] !== undefined))

/** What tells a push from others, without the secrets of its connection. */
export const aboutPush = ({ catalog_id, version, architecture, uuid, local_path, ...how }: PushManifest) =>
  known({
    catalog_id,
    version,
    architecture,
    uuid,
    local_path,
    connection: redactConnection(how.connection),
    chunked: how.chunked ? 'true' : undefined,
    suspend: how.suspend ? 'true' : undefined,
  })

/** The same of a pull. */
export const aboutPull = ({ catalog_id, version, architecture, machine_name, connection }: PullManifest) =>
  known({
    catalog_id,
    version,
    architecture,
    machine_name,
    connection: connection === undefined ? undefined : redactConnection(connection),
  })
