import type { PlannedStep } from '#lib/async/progress.ts'

export type PullStep = 'image_fetch_stage' | 'image_verify_stage' | 'image_convert_stage' | 'image_register_stage'

/** The steps in which an image comes to this host. */
export const pullPlan: readonly PlannedStep<PullStep>[] = [
  { name: 'image_fetch_stage', title: 'Fetch the file', weight: 60, unit: 'bytes' },
  { name: 'image_verify_stage', title: 'Verify its SHA-256', weight: 10, unit: 'bytes' },
  { name: 'image_convert_stage', title: 'Convert it to qcow2', weight: 25, unit: 'percent' },
  { name: 'image_register_stage', title: 'Register the image', weight: 5 },
]
