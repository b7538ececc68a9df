import { redactConnection } from '#lib/objects/port/connection.ts'
import type { PullManifest, PushManifest } from './schemas.ts'

const omitUndefined = (members: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(members).filter((pair): pair is [string, string] => pair[1] !== undefined))

/** Summarizes a push for the record of its job, without the secrets of its connection. */
export const summarizePush = ({
  catalog_id,
  version,
  architecture,
  uuid,
  local_path,
  connection,
  chunked,
  suspend,
}: PushManifest) =>
  omitUndefined({
    catalog_id,
    version,
    architecture,
    uuid,
    local_path,
    connection: redactConnection(connection),
    chunked: chunked ? 'true' : undefined,
    suspend: suspend ? 'true' : undefined,
  })

/** Summarizes a pull for the record of its job, without the secrets of its connection. */
export const summarizePull = ({ catalog_id, version, architecture, machine_name, connection }: PullManifest) =>
  omitUndefined({
    catalog_id,
    version,
    architecture,
    machine_name,
    connection: connection === undefined ? undefined : redactConnection(connection),
  })
