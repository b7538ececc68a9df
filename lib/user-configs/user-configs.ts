import { isFault, ServiceError } from '#lib/errors.ts'
import type { Publish } from '#lib/events/events.ts'
import type { Store, Stored, Write } from '#lib/storage/store.ts'
import { type CreateUserConfig, type UpdateUserConfig, UserConfig } from './schemas.ts'
import { formatValue } from './value.ts'

/**
 * The settings that users store for themselves. Nobody sees those of another user. A reference is an id or a slug, in any
 * case. The methods throw `not-found`, `invalid` and `conflict`.
 */
export interface UserConfigs {
  list(userId: string): Promise<readonly UserConfig[]>
  show(userId: string, reference: string): Promise<UserConfig>
  create(userId: string, request: CreateUserConfig): Promise<UserConfig>
  update(userId: string, reference: string, changes: UpdateUserConfig): Promise<UserConfig>
  remove(userId: string, reference: string): Promise<void>
  /** Gives the writes that delete all settings of a user, for the commit that deletes the user. */
  prepareRemoval(userId: string): Promise<readonly Write[]>
}

const maxPerUser = 500

export const openUserConfigs = (store: Store, publish: Publish): UserConfigs => {
  // Private, like the settings: only their user gets the event.
  const publishConfigEvent = (event: string, { id, slug, user_id: user }: UserConfig): Write =>
    publish({
      type: 'system',
      message: `USER_CONFIG_${event}`,
      body: { config_id: id, slug },
      audience: { users: [user], private: true },
    })
  const configs = store.collection('user-configs', UserConfig, {
    unique: { slug: ({ user_id, slug }) => `${user_id} ${slug.toLowerCase()}` },
  })
  // The schema drops the revision.
  const toView = (config: UserConfig & Stored): UserConfig => UserConfig.parse(config)
  const listOfUser = async (userId: string) => (await configs.list()).filter(config => config.user_id === userId)
  const find = async (userId: string, reference: string): Promise<UserConfig & Stored> => {
    const wanted = reference.toLowerCase()
    const byId = await configs.get(wanted)
    const found = byId?.user_id === userId ? byId : await configs.find('slug', `${userId} ${wanted}`)
    if (!found) throw new ServiceError('not-found', `You have no setting with the id or slug ${reference}.`)
    return found
  }

  return {
    list: async userId => (await listOfUser(userId)).map(toView),
    show: async (userId, reference) => toView(await find(userId, reference)),
    async create(userId, { slug, name, type = 'string', value = '' }) {
      if ((await listOfUser(userId)).length >= maxPerUser)
        throw new ServiceError('conflict', `You have ${maxPerUser} settings, which is all that one user can have.`)
      const now = new Date().toISOString()
      const id = crypto.randomUUID()
      const config: UserConfig = {
        id,
        user_id: userId,
        slug: slug ?? id,
        name: name ?? slug ?? id,
        type,
        value: value === '' && type !== 'string' ? defaults[type] : formatValue(type, value),
        created_at: now,
        updated_at: now,
      }
      await store.commit([configs.put(config), publishConfigEvent('ADDED', config)]).catch((error: unknown) => {
        throw isFault(error, 'conflict')
          ? new ServiceError('conflict', `You have a setting with the slug ${config.slug} already; change it with PUT.`)
          : error
      })
      return config
    },
    async update(userId, reference, { name, type, value }) {
      const before = await find(userId, reference)
      const change = (config: UserConfig): UserConfig => {
        const nextType = type ?? config.type
        return {
          ...config,
          name: name ?? config.name,
          type: nextType,
          value: formatValue(nextType, value ?? config.value),
          updated_at: new Date().toISOString(),
        }
      }
      return toView(await configs.update(before.id, change, [publishConfigEvent('UPDATED', before)]))
    },
    async remove(userId, reference) {
      const config = await find(userId, reference)
      await store.commit([configs.remove(config), publishConfigEvent('REMOVED', config)])
    },
    prepareRemoval: async userId => (await listOfUser(userId)).map(configs.remove),
  }
}

/** The values of settings that are created without one, by type. */
const defaults = { bool: 'false', int: '0', json: 'null' } as const
