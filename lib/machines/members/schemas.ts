import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import { lifecycleShape } from '../create/lifecycle.ts'
import { ImageReference } from '../images/leased-image.ts'
import { CreateMachine } from '../schemas.ts'

// The machines of a pool get their name, owner and end when they are claimed, and two of them cannot have the same ports.
const { name: _, ttl: __, forwards: ___, image: ____, ...shape } = CreateMachine.shape

/** What the machines of a pool are like. Members that are left out have the values of a create request. */
export const MemberTemplate = knownObject('a template', {
  ...shape,
  description: shape.description.unwrap().optional(),
  cpus: shape.cpus.unwrap().optional(),
  memory: shape.memory.optional(),
  disks: shape.disks.unwrap().optional(),
})
export type MemberTemplate = z.infer<typeof MemberTemplate>

/** The members of a template that a copy of another machine can have too: what the service alone does with it. */
export const copyMembers: ReadonlySet<string> = new Set(Object.keys(lifecycleShape).filter(name => name !== 'ttl'))

/** The members of a template that are for the guest alone and are never shown again. */
export const secretMembers = ['user_data', 'network_config'] as const

const Reference = z.string().min(1).max(128)

/** What the machines of a pool are made of. */
export const MemberSource = knownObject('a source', {
  image: ImageReference.optional(),
  machine: Reference.optional(),
  snapshot: Reference.optional(),
})
  .refine(
    ({ image, machine }) => (image === undefined) !== (machine === undefined),
    'must have either image or machine',
  )
  .refine(({ machine, snapshot }) => snapshot === undefined || machine !== undefined, {
    path: ['snapshot'],
    message: 'must come with the machine that it is of',
  })
export type MemberSource = z.infer<typeof MemberSource>
