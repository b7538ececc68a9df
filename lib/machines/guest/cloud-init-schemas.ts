import * as z from 'zod'

export const CloudInitStatus = z
  .object({
    status: z.enum(['not started', 'disabled', 'running', 'done', 'error']).meta({
      description:
        'not started: the guest has no cloud-init, or it has not begun since the boot. error: it has ended, with errors',
    }),
    stage: z.string().optional().meta({ description: 'What it does now: init-local, init, modules-config, …' }),
    datasource: z.string().optional().meta({ description: 'Where it has found what it is told' }),
    errors: z.array(z.string()).meta({ description: 'What has failed so far, in the words of the guest' }),
    started_at: z.string().optional().meta({ description: 'By the clock of the guest' }),
    finished_at: z.string().optional().meta({ description: 'By the clock of the guest' }),
  })
  .meta({ id: 'MachineCloudInitStatus' })
export type CloudInitStatus = z.infer<typeof CloudInitStatus>
