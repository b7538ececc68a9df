import { createInvalidConnectionError, maskStorage, type Storage, parseStorage } from './connection.ts'
import { getProviderKind } from './provider-kinds.ts'

/** Whether two storages have the same public values: only then the credentials of one may be sent to the other. */
export const isSameStorage = (one: Storage, other: Storage): boolean =>
  one.type === other.type &&
  getProviderKind(one.type).publicKeys.every(key => (one.meta[key] ?? '') === (other.meta[key] ?? ''))

/**
 * Applies the values of a request to a stored storage. When the result is another storage, the credentials of the stored one
 * are left out, because they would be sent elsewhere. Throws `invalid` for required keys that are missing then.
 */
export const mergeStorage = (stored: Storage, provider: string, meta: Readonly<Record<string, string>>): Storage => {
  const merged = parseStorage(provider, { ...stored.meta, ...meta })
  return isSameStorage(stored, merged) ? merged : parseStorage(provider, meta)
}

/**
 * Replaces masked values by the stored ones. Throws `invalid` when the storage is another one, because the stored secrets
 * would be sent elsewhere.
 */
export const unmaskStorage = (storage: Storage, stored: Storage): Storage => {
  const { meta: known } = maskStorage(stored)
  const isMask = (key: string): boolean => known[key] === storage.meta[key] && known[key] !== stored.meta[key]
  if (!Object.keys(storage.meta).some(isMask)) return storage
  const meta = Object.entries(storage.meta).map(
    ([key, value]) => [key, isMask(key) ? (stored.meta[key] ?? value) : value] as const,
  )
  const unmasked = { ...storage, meta: Object.fromEntries(meta) }
  if (!isSameStorage(stored, unmasked))
    throw createInvalidConnectionError('its masked values belong to another storage; send all credentials of this one')
  return unmasked
}
