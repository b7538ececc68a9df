import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import { Autostart } from '#lib/hypervisor/machine-parts.ts'
import { Labels } from '#lib/calls/selection/labels.ts'

const maxTtl = 365 * 24 * 3600

/** Seconds that a machine has to live. */
export const Ttl = z.int().min(1).max(maxTtl)

/** Returns the time at which a time to live that begins now is over. */
export const toExpiry = (ttl: number): string => new Date(Date.now() + ttl * 1000).toISOString()

/** Whether the service starts a machine again after a crash. */
export const RestartPolicy = z.enum(['never', 'on-crash'])

/** The members of a create request that say what the service does with the machine by itself. */
export const lifecycleShape = {
  labels: Labels.optional().meta({ description: 'Names and values that lists can select by' }),
  ephemeral: z.boolean().optional().meta({
    description:
      'true: the service deletes the machine when it has stopped, and at its own start if the machine does not run',
  }),
  ttl: Ttl.optional().meta({ description: 'Seconds after which the service deletes the machine' }),
  autostart: knownObject('autostart', Autostart.shape)
    .optional()
    .meta({ description: 'Whether the service starts the machine at its own start' }),
  restart: RestartPolicy.optional().meta({
    description: 'on-crash: the service starts the machine again when its hypervisor process has crashed',
  }),
}
