import * as z from 'zod'
import { canonicalizeClaim } from '#lib/access/claims.ts'
import { normalizeName } from '#lib/access/normal-name.ts'
import { mask } from '../server.ts'

/** A stored catalog manager: a remote catalog with its credentials, an API key or a user name and a password. */
export const CatalogManager = z.object({
  id: z.uuid(),
  name: z.string(),
  url: z.string(),
  internal: z.boolean(),
  active: z.boolean(),
  authentication_method: z.string(),
  username: z.string().optional(),
  password: z.string().optional(),
  api_key: z.string().optional(),
  global: z.boolean(),
  required_claims: z.array(z.string()),
  owner_id: z.uuid(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type CatalogManager = z.infer<typeof CatalogManager>

const MaskedSecret = z.literal(mask).optional().meta({ description: 'Stands for the stored value' })

export const CatalogManagerRecord = CatalogManager.extend({
  username: MaskedSecret,
  password: MaskedSecret,
  api_key: MaskedSecret,
}).meta({ id: 'CatalogManager' })
export type CatalogManagerRecord = z.infer<typeof CatalogManagerRecord>

const Text = (maxLength: number) => z.string().max(maxLength)
const Flag = z.boolean().optional()
const Name = Text(256).trim().min(1)

const Url = Text(2048)
  .trim()
  .refine(text => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    message: 'must be an address like https://catalog.example.org',
    abort: true,
  })
  .transform(text => new URL(text))
  .refine(({ username, password }) => username === '' && password === '', 'must not hold credentials')
  .refine(({ search, hash }) => search === '' && hash === '', 'must not have a query or a fragment')
  .transform(({ origin, pathname }) => origin + pathname.replace(/\/+$/, ''))
  .meta({ pattern: '^https?://[^\\s/?#@:]+(:[0-9]{1,5})?(/[^?#]*)?$', examples: ['https://catalog.example.org'] })

const ApiKey = Text(8192)
  .regex(/^[\x21-\x7e]*$/, 'must be the value of X-Api-Key: base64 of KEY:SECRET')
  .meta({ description: `Left out, empty or ${mask}: the stored value stays` })

const RequiredClaims = z
  .array(Name.transform(name => canonicalizeClaim(normalizeName(name))))
  .max(64)
  .meta({ description: 'Of a global manager: users must hold all of them' })

const Fields = z.object({
  internal: Flag.meta({ description: 'Part of the installation: only super users change it' }),
  active: Flag,
  authentication_method: Text(64).optional().meta({ description: 'credentials or api_key' }),
  username: Text(256).optional(),
  password: Text(1024).optional(),
  api_key: ApiKey.optional(),
  global: Flag.meta({ description: 'For everybody who holds the required claims' }),
  required_claims: RequiredClaims.optional(),
})

export const CreateCatalogManager = Fields.extend({ name: Name, url: Url })
export type CreateCatalogManager = z.infer<typeof CreateCatalogManager>

/** Members that are left out stay as they are. */
export const UpdateCatalogManager = Fields.extend({ name: Name.optional(), url: Url.optional() })
export type UpdateCatalogManager = z.infer<typeof UpdateCatalogManager>

export const CatalogManagerReference = z.object({ id: z.string().min(1) })

/** The members of a request that the audit includes. */
export const auditedMembers = ['name', 'url', 'active', 'global', 'internal', 'required_claims'] as const
