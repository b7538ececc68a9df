import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'

/** A name that can be a value of `?host=` as it is, and is never taken for the id of a host. */
const HostName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must have letters, digits, dots, _ and - only')
  .refine(name => !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name), 'must not look like a UUID')

/** The address under which the service reaches a host. The service of hosts checks that it is safe. */
const HostUrl = z
  .string()
  .max(2048)
  .trim()
  .refine(text => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    message: 'must be an address like https://host-1.example.org:8443',
    abort: true,
  })
  .transform(text => new URL(text))
  .refine(({ username, password }) => username === '' && password === '', 'must not hold credentials')
  .refine(
    ({ pathname, search, hash }) => pathname === '/' && search === '' && hash === '',
    'must have no path, no query and no fragment',
  )
  .transform(({ origin }) => origin)
  .meta({ pattern: '^https?://[^\\s/?#@:]+(:[0-9]{1,5})?/?$', examples: ['https://host-1.example.org:8443'] })

const Label = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/, 'must have letters, digits, dots, /, _ and - only')

const Labels = z
  .record(Label, Label)
  .refine(labels => Object.keys(labels).length <= 32, 'must have at most 32 labels')
  .meta({ description: 'Names with values. A request can ask for a host with some of them: host_labels=zone=a' })

export const CreateHost = knownObject('a host', {
  name: HostName.meta({ description: 'Unique name of the host' }),
  url: HostUrl.meta({ description: 'Address under which the service reaches the host' }),
  labels: Labels.default({}),
})
export type CreateHost = z.infer<typeof CreateHost>

export const UpdateHost = knownObject('a change of a host', {
  url: HostUrl.optional().meta({ description: 'Address under which the service reaches the host' }),
  labels: Labels.optional(),
})
export type UpdateHost = z.infer<typeof UpdateHost>

export const HostReference = z.object({
  id: z.string().min(1).max(128).meta({ description: 'UUID or name of the host, in any case' }),
})

/** What a host reads through this service: the pack of a job. */
export const HostPackReference = HostReference.extend({
  job: z.uuid().meta({ description: 'The job of this service under which the host pulls the pack' }),
})

export const PackQuery = z
  .object({
    content: z.enum(['pack', 'pieces', 'chunk']).meta({ description: 'The pack, its sidecar, or a chunk of it' }),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256')
      .optional()
      .meta({ description: 'With content=chunk: the chunk' }),
  })
  .refine(({ content, sha256 }) => (content === 'chunk') === (sha256 !== undefined), {
    path: ['sha256'],
    message: 'must be given with content=chunk, and only then',
  })

const Capacity = z.object({
  cpus: z.int().positive().meta({ description: 'CPUs of the host' }),
  memory: z.int().nonnegative().meta({ description: 'Memory of the host in MB' }),
  free_memory: z.int().nonnegative().meta({ description: 'Memory in MB that nobody uses' }),
  free_disk: z
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'Space in MB on the disk of its machines; left out by an earlier version of the service' }),
})

/** What a host says about itself in each heartbeat. */
export const HostReport = z.object({
  version: z.string().max(64).meta({ description: 'Version of the service on the host' }),
  driver: z.string().max(64).meta({ description: 'The driver of its machines: qemu or embedded' }),
  architecture: z.string().max(64).meta({ description: 'x86_64 or arm64' }),
  capacity: Capacity.meta({ description: 'What the host has for machines' }),
})
export type HostReport = z.infer<typeof HostReport>

export const HostRecord = HostReport.partial()
  .extend({
    id: z.uuid().meta({ description: 'UUID of the host; the audience of the assertions that the service sends to it' }),
    name: z.string().meta({ description: 'Unique name of the host' }),
    url: z.string().meta({ description: 'Address under which the service reaches the host' }),
    labels: z.record(z.string(), z.string()).meta({ description: 'Names with values' }),
    state: z
      .enum(['new', 'reachable', 'unreachable'])
      .meta({ description: 'new: no heartbeat has come yet; unreachable: the last one is older than 45 seconds' }),
    unreachable_since: z.string().optional().meta({ description: 'Time of the last heartbeat of an unreachable host' }),
    drained: z.boolean().meta({ description: 'true: the host gets no new machines' }),
    machines: z.int().meta({ description: 'Number of its machines' }),
    heard_at: z.string().optional().meta({ description: 'Time of the last heartbeat (RFC 3339)' }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Host' })
export type HostRecord = z.infer<typeof HostRecord>

export const RegisteredHost = HostRecord.extend({
  key: z.string().meta({ description: 'The secret control_key of the host; shown only here' }),
}).meta({ id: 'RegisteredHost' })
export type RegisteredHost = z.infer<typeof RegisteredHost>
