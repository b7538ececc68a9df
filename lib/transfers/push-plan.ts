import type { PlannedStep, ProgressReporter } from '#lib/async/progress.ts'
import type { Storage } from '#lib/objects/port/connection.ts'
import type { TransferContext } from './context.ts'
import type { PushManifest } from './schemas.ts'
import type { Target } from './push-target.ts'

/** The steps of a push. */
export const pushPlan = (chunked: boolean): readonly PlannedStep[] => [
  { name: 'push_validate_stage', title: 'Check the request', weight: 5 },
  { name: 'collect', title: 'Collect the files', weight: 10, unit: 'percent' },
  {
    name: 'push_compress_stage',
    title: chunked ? 'Pack and upload the chunks' : 'Pack the machine',
    weight: 35,
    unit: 'bytes',
  },
  { name: 'push_check_remote_stage', title: 'Look what the provider has', weight: 5 },
  {
    name: 'push_upload_pack_stage',
    title: chunked ? 'Upload the list of them' : 'Upload the pack',
    weight: 45,
    unit: 'bytes',
  },
  { name: 'push_upload_meta_stage', title: 'Upload its description', weight: 5 },
  { name: 'push_register_stage', title: 'Register the manifest', weight: 3 },
  { name: 'cleaning_up', title: 'Clean up', weight: 2 },
]

/** A push under way. */
export interface Push {
  readonly context: TransferContext
  readonly request: PushManifest
  readonly architecture: string
  readonly name: string
  readonly storage: Storage
  readonly target: Target
  readonly work: ProgressReporter
  /** What there is of the push on this host. */
  readonly folder: string
  /** Where files of the machine go that must be copied. */
  readonly staging: string
}
