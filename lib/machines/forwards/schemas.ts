import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import { Forward } from '#lib/hypervisor/machine-parts.ts'
import { MachineReference } from '../reference.ts'

/** The most forwards of a machine. */
export const maxForwards = 64

/** Ports below this are for the system's own services. */
const firstPort = 1024

/** A request for a forward. */
export const NewForward = knownObject('a forward', {
  ...Forward.shape,
  host_address: z.ipv4('must be an IPv4 address').default('127.0.0.1'),
  host_port: z
    .int()
    .min(firstPort, `must be ${firstPort} or higher: the ports below are for services of the host`)
    .max(65_535)
    .meta({ description: 'The port of the host' }),
})
export type NewForward = z.infer<typeof NewForward>

/** A forward as replies have it. `id` names it in paths: PROTOCOL:ADDRESS:PORT, the end on the host. */
export const ForwardRecord = z.object({ id: z.string(), ...Forward.shape }).meta({ id: 'Forward' })
export type ForwardRecord = z.infer<typeof ForwardRecord>

/** The path of a forward. */
export const ForwardReference = MachineReference.extend({
  forward: z.string().min(1).meta({ description: 'PROTOCOL:ADDRESS:PORT of the host, such as tcp:127.0.0.1:8022' }),
})
