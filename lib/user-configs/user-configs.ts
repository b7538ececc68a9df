import { isFault, ServiceError } from '#lib/errors.ts'
import type { Tell } from '#lib/events/events.ts'
import type { Store, Stored, Write } from '#lib/storage/store.ts'
import { type CreateUserConfig, type UpdateUserConfig, UserConfig } from './schemas.ts'
import { valueText } from './value.ts'

/**
 * Settings that each user keeps for themselves: those of another user are not there. A reference is an id or a slug, in
 * any case. Each throws `not-found`, `invalid` and `conflict`.
 */
export interface UserConfigs {
  list(userId: string): Promise<readonly UserConfig[]>
  show(userId: string, reference: string): Promise<UserConfig>
  create(userId: string, request: CreateUserConfig): Promise<UserConfig>
  update(userId: string, reference: string, changes: UpdateUserConfig): Promise<UserConfig>
  remove(userId: string, reference: string): Promise<void>
  /** The writes that delete all of a user, for the commit that deletes the user. */
  removalOf(userId: string): Promise<readonly Write[]>
}

const most = 500

export const openUserConfigs = (store: Store, tell: Tell): UserConfigs => {
  // Private as the settings themselves: their user alone is told.
  const told = (what: string, { id, slug, user_id: user }: UserConfig): Write =>
    tell({
      type: 'system',
      message: `USER_CONFIG_${what}`,
      body: { config_id: id, slug },
      audience: { users: [user], private: true },
    })
  const configs = store.collection('user-configs', UserConfig, {
    unique: { slug: ({ user_id, slug }) => `${user_id} ${slug.toLowerCase()}` },
  })
  // Without its revision.
  const shown = (config: UserConfig & Stored): UserConfig => UserConfig.parse(config)
  const of = async (userId: string) => (await configs.list()).filter(config => config.user_id === userId)
  const find = async (userId: string, reference: string): Promise<UserConfig & Stored> => {
    const wanted = reference.toLowerCase()
    const byId = await configs.get(wanted)
    const found = byId?.user_id === userId ? byId : await configs.find('slug', `${userId} ${wanted}`)
    if (!found) throw new ServiceError('not-found', `You have no setting with the id or slug ${reference}.`)
    return found
  }

  return {
    list: async userId => (await of(userId)).map(shown),
    show: async (userId, reference) => shown(await find(userId, reference)),
    async create(userId, { slug, name, type = 'string', value = '' }) {
      if ((await of(userId)).length >= most)
        throw new ServiceError('conflict', `You have ${most} settings, which is all that one user can have.`)
      const now = new Date().toISOString()
      const id = crypto.randomUUID()
      const config: UserConfig = {
        id,
        user_id: userId,
        slug: slug ?? id,
        name: name ?? slug ?? id,
        type,
        value: value === '' && type !== 'string' ? defaults[type] : valueText(type, value),
        created_at: now,
        updated_at: now,
      }
      await store.commit([configs.put(config), told('ADDED', config)]).catch((error: unknown) => {
        throw isFault(error, 'conflict')
          ? new ServiceError('conflict', `You have a setting with the slug ${config.slug} already; change it with PUT.`)
          : error
      })
      return config
    },
    async update(userId, reference, { name, type, value }) {
      const before = await find(userId, reference)
      const change = (config: UserConfig): UserConfig => {
        const next = type ?? config.type
        return {
          ...config,
          name: name ?? config.name,
          type: next,
          value: valueText(next, value ?? config.value),
          updated_at: new Date().toISOString(),
        }
      }
      return shown(await configs.update(before.id, change, [told('UPDATED', before)]))
    },
    async remove(userId, reference) {
      const config = await find(userId, reference)
      await store.commit([configs.remove(config), told('REMOVED', config)])
    },
    removalOf: async userId => (await of(userId)).map(configs.remove),
  }
}

/** What a setting of a type holds that was made without a value. */
const defaults = { bool: 'false', int: '0', json: 'null' } as const
