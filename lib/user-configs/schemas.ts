import * as z from 'zod'

const types = ['string', 'bool', 'int', 'json'] as const
export type ConfigType = (typeof types)[number]

/** A setting of a user as it is stored. The value is a text, whatever its type. */
export const UserConfig = z.object({
  id: z.uuid(),
  user_id: z.uuid(),
  slug: z.string(),
  name: z.string(),
  type: z.enum(types),
  value: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type UserConfig = z.infer<typeof UserConfig>

export const UserConfigRecord = UserConfig.meta({ id: 'UserConfig' })

const Slug = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\P{C}+$/u, 'must not have control characters')

const Value = z.unknown().meta({ description: 'A text, or a value that fits the type' })

const Fields = z.object({
  name: z.string().min(1).max(256).optional(),
  type: z.enum(types).optional(),
  value: Value.optional(),
})

export const CreateUserConfig = Fields.extend({
  slug: Slug.optional().meta({ description: 'Generated when left out' }),
})
  .optional()
  .transform(request => request ?? {})
export type CreateUserConfig = z.infer<typeof CreateUserConfig>

export const UpdateUserConfig = Fields.optional().transform(request => request ?? {})
export type UpdateUserConfig = z.infer<typeof UpdateUserConfig>

export const UserConfigReference = z.object({
  id: z.string().min(1).meta({ description: 'Id or slug, in any case' }),
})

/** The most bytes of a request: a value, its name and slug as JSON. */
export const bodyLimit = 256 * 1024
