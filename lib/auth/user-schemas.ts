import * as z from 'zod'
import { requireAnyOf } from '#lib/access/member-rules.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Whether a name is `.` or `..`. Programs that build a URL from it would take it for a folder. */
const isDots = (name: string): boolean => name === '.' || name === '..'

const Text = z.string().trim()
const Names = z.array(z.string().min(1).max(128)).max(256)

/** A user name is neither an e-mail address nor an id, so that no reference can mean two users. */
const Username = Text.normalize('NFC')
  .min(1)
  .max(128)
  .regex(/^[^\s@:\p{C}]+$/u, 'must not have white space, @, : or control characters')
  .refine(name => !uuid.test(name), 'must not look like an id')
  .refine(name => !isDots(name), 'must not be . or ..')

const Email = Text.normalize('NFC')
  .max(254)
  .regex(/^[^\s@:\p{C}]+@[^\s@:\p{C}]+$/u, 'must be an e-mail address')

const Name = Text.min(1).max(256)
const Password = z.string().max(1024)

export const CreateUser = z.object({
  username: Username,
  name: Name,
  email: Email,
  password: Password.optional().meta({ description: 'Without one the user can use API keys alone' }),
  roles: Names.optional().meta({ description: 'USER when left out' }),
  claims: Names.optional(),
  is_super_user: z.boolean().default(false),
})
export type CreateUser = z.infer<typeof CreateUser>

export const UpdateUser = z
  .object({ name: Name.optional(), email: Email.optional(), password: Password.optional() })
  .refine(changes => Object.values(changes).some(Boolean), 'name, email or password must be there to be changed')
  .meta(requireAnyOf('name', 'email', 'password'))
export type UpdateUser = z.infer<typeof UpdateUser>

export const UserReference = z.object({
  id: z.string().min(1).meta({ description: 'Id, e-mail address or user name, in any case' }),
})
export const UserRoleReference = UserReference.extend({ role: z.string().min(1) })
export const UserClaimReference = UserReference.extend({ claim: z.string().min(1) })

/** The name of a role or a claim, in requests and replies. */
export const Named = z.object({
  name: Text.min(1)
    .max(128)
    .regex(/^\P{C}+$/u, 'must not have control characters')
    .refine(name => !isDots(name), 'must not be . or ..'),
})

export const EffectiveClaim = z.object({
  id: z.string(),
  name: z.string(),
  is_inherited: z.boolean(),
  source_role: z.string().optional(),
})

/** A user as clients see it. */
export const UserRecord = z
  .object({
    id: z.string(),
    username: z.string(),
    name: z.string(),
    email: z.string(),
    roles: z.array(z.string()),
    claims: z.array(z.string()).meta({ description: 'Held directly' }),
    effective_claims: z.array(EffectiveClaim).meta({ description: 'Held directly and by roles' }),
    isSuperUser: z.boolean(),
    locked_until: z.string().optional().meta({ description: 'Sign-in is refused until then' }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'User' })
export type UserRecord = z.infer<typeof UserRecord>

/** A user as part of a role or a claim. */
export const Holder = UserRecord.pick({ id: true, username: true, name: true, email: true }).meta({ id: 'Holder' })
export type Holder = z.infer<typeof Holder>
