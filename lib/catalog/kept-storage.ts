import { bad, maskStorage, type Storage, storageFrom } from './connection.ts'
import { kindOf } from './provider-types.ts'

/** Whether two storages are one place that is reached the same way: only then what opens one may be sent to the other. */
export const samePlace = (one: Storage, other: Storage): boolean =>
  one.type === other.type && kindOf(one.type).shown.every(key => (one.meta[key] ?? '') === (other.meta[key] ?? ''))

/**
 * A storage that a request describes by what is different from one that is kept. What opens the kept one is left out where
 * that would be sent elsewhere. Throws `invalid` for what then is missing.
 */
export const storageOver = (kept: Storage, provider: string, meta: Readonly<Record<string, string>>): Storage => {
  const over = storageFrom(provider, { ...kept.meta, ...meta })
  return samePlace(kept, over) ? over : storageFrom(provider, meta)
}

/** A storage in which what is masked stands for what is kept. Throws `invalid` where that would be sent elsewhere. */
export const unmaskStorage = (storage: Storage, kept: Storage): Storage => {
  const { meta: known } = maskStorage(kept)
  const isMask = (key: string): boolean => known[key] === storage.meta[key] && known[key] !== kept.meta[key]
  if (!Object.keys(storage.meta).some(isMask)) return storage
  const meta = Object.entries(storage.meta).map(([key, value]) => [key, isMask(key) ? kept.meta[key]! : value])
  const whole = { ...storage, meta: Object.fromEntries(meta) as Storage['meta'] }
  if (!samePlace(kept, whole)) throw bad('what is masked is kept for another place; send all that opens this one')
  return whole
}
