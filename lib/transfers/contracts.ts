import { CatalogManifests } from '#lib/catalog/manifest-schema.ts'
import { remoteFaults } from '#lib/remote-catalogs/error-mapping.ts'
import { aboutPull, aboutPush } from './job-summary.ts'
import { PullManifest, PullResult, PushManifest, TransferQuery } from './schemas.ts'

const transfer = {
  effect: 'change',
  uses: ['transfers'],
  query: TransferQuery,
  // What is named may be missing: the machine, the manifest, the objects on the provider.
  faults: ['not-found', ...remoteFaults],
} as const

/** What the endpoints share that push. */
export const pushing = {
  ...transfer,
  method: 'POST',
  access: { claims: ['PUSH_CATALOG_MANIFEST'] },
  body: PushManifest,
  audited: ['catalog_id', 'version', 'architecture', 'local_path', 'uuid', 'suspend'],
  reply: CatalogManifests,
} as const
export const pushJob = {
  type: 'catalog',
  operation: 'push',
  record: 'catalog_manifest',
  always: true,
  repeatable: true,
  summarize: aboutPush,
} as const

/** What the endpoints share that pull. */
export const pulling = {
  ...transfer,
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
  summarize: aboutPull,
} as const

/** What the endpoints share that import. */
export const importing = {
  ...transfer,
  method: 'PUT',
  access: { anyClaim: ['PUSH_CATALOG_MANIFEST', 'IMPORT_CATALOG_MANIFEST'] },
  audited: ['catalog_id', 'version', 'architecture', 'machine_remote_path'],
} as const
