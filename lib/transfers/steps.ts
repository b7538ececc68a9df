import type { PlannedStep } from '#lib/async/progress.ts'

/** The steps of a push. The export of the machine plans `collect`, which the push skips for a bundle. */
export type PushStep =
  | 'push_validate_stage'
  | 'collect'
  | 'push_compress_stage'
  | 'push_check_remote_stage'
  | 'push_upload_pack_stage'
  | 'push_upload_meta_stage'
  | 'push_register_stage'
  | 'cleaning_up'

export const planPush = (isChunked: boolean): readonly PlannedStep<PushStep>[] => [
  { name: 'push_validate_stage', title: 'Check the request', weight: 5 },
  { name: 'collect', title: 'Collect the files', weight: 10, unit: 'percent' },
  {
    name: 'push_compress_stage',
    title: isChunked ? 'Pack and upload the chunks' : 'Pack the machine',
    weight: 35,
    unit: 'bytes',
  },
  { name: 'push_check_remote_stage', title: 'Check what the provider has', weight: 5 },
  {
    name: 'push_upload_pack_stage',
    title: isChunked ? 'Upload the chunk index' : 'Upload the pack',
    weight: 45,
    unit: 'bytes',
  },
  { name: 'push_upload_meta_stage', title: 'Upload the description', weight: 5 },
  { name: 'push_register_stage', title: 'Register the manifest', weight: 3 },
  { name: 'cleaning_up', title: 'Clean up', weight: 2 },
]

/** The steps in which a pull fills the folder of the machine. It skips those that it does not need. */
export const populateSteps = [
  'pull_check_cache_stage',
  'downloader',
  'decompressor',
  'pull_cache_stage',
] as const satisfies readonly string[]

/** The steps of a pull. */
export type PullStep =
  | 'pull_validate_stage'
  | (typeof populateSteps)[number]
  | 'pull_register_stage'
  | 'pull_start_stage'

export const planPull = (startsMachine: boolean): readonly PlannedStep<PullStep>[] => [
  { name: 'pull_validate_stage', title: 'Check the request', weight: 5 },
  { name: 'pull_check_cache_stage', title: 'Check the cache', weight: 10, unit: 'bytes' },
  { name: 'downloader', title: 'Fetch the pack', weight: 40, unit: 'bytes' },
  { name: 'decompressor', title: 'Unpack the machine', weight: 20, unit: 'bytes' },
  { name: 'pull_cache_stage', title: 'Cache it for the next pull', weight: 10, unit: 'bytes' },
  { name: 'pull_register_stage', title: 'Register the machine', weight: 10 },
  ...(startsMachine ? [{ name: 'pull_start_stage', title: 'Start the machine', weight: 5 } as const] : []),
]

/** The steps of an import. */
export type ImportStep = 'import_check_stage' | 'import_register_stage'

export const importPlan: readonly PlannedStep<ImportStep>[] = [
  { name: 'import_check_stage', title: 'Check what the provider has', weight: 60 },
  { name: 'import_register_stage', title: 'Register the manifest', weight: 40 },
]
