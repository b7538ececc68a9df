import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'

/** An API key as it is stored: a keyed digest stands in for its secret. */
export const ApiKey = z.object({
  id: z.uuid(),
  key: z.string(),
  name: z.string(),
  digest: z.string(),
  user_id: z.uuid(),
  revoked: z.boolean(),
  created_at: z.string(),
  updated_at: z.string(),
  revoked_at: z.string().optional(),
  expires_at: z.string().optional(),
  /** The claims that the key is narrowed to; without them it has all rights of its owner. */
  claims: z.array(z.string()).optional(),
})
export type ApiKey = z.infer<typeof ApiKey>

const Text = z
  .string('must be a text')
  .max(256, 'must not be longer than 256 characters')
  .refine(text => text.isWellFormed(), 'must have whole characters')

/** Members that clients may send back from a record. The service sets them, so they are ignored. */
const Ignored = z.unknown().optional().meta({ description: 'Ignored: the service says that' })
const ignored = { id: Ignored, encoded: Ignored, created_at: Ignored, updated_at: Ignored, revoked_at: Ignored }

/** Unknown members are refused: a misspelled `expires_at` must not make a key that never expires. */
export const CreateApiKey = knownObject(
  'an API key',
  {
    name: Text.trim().min(1, 'must not be empty'),
    key: Text.trim().optional().meta({ description: 'Made up when left out' }),
    secret: Text.optional().meta({ description: 'Made up when left out' }),
    revoked: z.boolean('must be true or false').default(false),
    user_id: z
      .string('must be a text')
      .min(1, 'must not be empty')
      .optional()
      .meta({ description: 'Id, e-mail address or user name of whose key it is; the caller’s when left out' }),
    expires_at: z.iso.datetime({ offset: true, error: 'must be a time of RFC 3339' }).optional(),
    claims: z
      .array(z.string('must be a text').min(1).max(128))
      .max(256)
      .optional()
      .meta({ description: 'Narrows the key to these of its owner’s claims' }),
  },
  ignored,
)
export type CreateApiKey = z.infer<typeof CreateApiKey>

/** An API key as clients see it (spec 2.1). `encoded` holds the credential in the reply to its creation, and "" later. */
export const ApiKeyRecord = ApiKey.omit({ digest: true }).extend({ encoded: z.string() }).meta({ id: 'ApiKey' })
export type ApiKeyRecord = z.infer<typeof ApiKeyRecord>

export const ApiKeyReference = z.object({ id: z.string().min(1).meta({ description: 'Id or name, in any case' }) })
