import { redactConnection } from '#lib/objects/port/connection.ts'
import { CatalogManifests } from '#lib/catalog/manifest-schema.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'
import { PullManifest, PullResult, PushManifest, TransferQuery } from './schemas.ts'

const omitUndefined = (members: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(members).filter((pair): pair is [string, string] => pair[1] !== undefined))

/** Summarizes a push for the record of its job, without the secrets of its connection. */
const summarizePush = ({
  catalog_id,
  version,
  architecture,
  uuid,
  local_path,
  connection,
  chunked,
  suspend,
  snapshot,
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
    snapshot,
  })

/** Summarizes a pull for the record of its job, without the secrets of its connection. */
const summarizePull = ({ catalog_id, version, architecture, machine_name, connection }: PullManifest) =>
  omitUndefined({
    catalog_id,
    version,
    architecture,
    machine_name,
    connection: connection === undefined ? undefined : redactConnection(connection),
  })

const transferContract = {
  effect: 'change',
  uses: ['transfers'],
  query: TransferQuery,
  // The machine, the manifest or the objects on the provider may be missing.
  faults: ['not-found', ...remoteFaults],
} as const

/** The common part of the contracts of endpoints that push. */
export const pushContract = {
  ...transferContract,
  method: 'POST',
  access: { claims: ['PUSH_CATALOG_MANIFEST'] },
  body: PushManifest,
  audited: ['catalog_id', 'version', 'architecture', 'local_path', 'uuid', 'suspend', 'snapshot'],
  reply: CatalogManifests,
} as const
export const pushJob = {
  type: 'catalog',
  operation: 'push',
  record: 'catalog_manifest',
  always: true,
  repeatable: true,
  summarize: summarizePush,
} as const

/** The common part of the contracts of endpoints that pull. */
export const pullContract = {
  ...transferContract,
  method: 'PUT',
  access: { claims: ['PULL_CATALOG_MANIFEST'] },
  body: PullManifest,
  audited: ['catalog_id', 'version', 'architecture', 'machine_name'],
  reply: PullResult,
} as const
export const pullJob = {
  type: 'catalog',
  operation: 'pull',
  record: 'catalog_manifest',
  always: true,
  repeatable: true,
  summarize: summarizePull,
} as const

/** The common part of the contracts of endpoints that import. */
export const importContract = {
  ...transferContract,
  method: 'PUT',
  access: { anyClaim: ['PUSH_CATALOG_MANIFEST', 'IMPORT_CATALOG_MANIFEST'] },
  audited: ['catalog_id', 'version', 'architecture', 'machine_remote_path'],
} as const
