import type { StoredJob } from './schemas.ts'

/** The most characters of the results of one user's jobs. All records are in memory, and a result may have megabytes. */
const maxPerOwner = 16 * 1024 * 1024

/** Knows how large the stored results are. */
export interface ResultLimit {
  /** Notes the result of a job that has ended. Returns the ids of older jobs of its owner whose results have to make room. */
  add(job: Pick<StoredJob, 'id' | 'owner' | 'result'>): readonly string[]
  /** Forgets a job whose record is deleted. */
  remove(job: Pick<StoredJob, 'id' | 'owner'>): void
}

export const createResultLimit = (): ResultLimit => {
  /** The characters of each result, by owner and id, the oldest first. */
  const sizes = new Map<string, Map<string, number>>()
  return {
    add({ id, owner, result }) {
      if (result === undefined) return []
      const own = sizes.get(owner) ?? new Map<string, number>()
      sizes.set(owner, own)
      own.set(id, JSON.stringify(result).length)
      let total = own.values().reduce((sum, size) => sum + size, 0)
      const surplus: string[] = []
      for (const [other, size] of own) {
        if (total <= maxPerOwner || other === id) break
        total -= size
        own.delete(other)
        surplus.push(other)
      }
      return surplus
    },
    remove({ id, owner }) {
      const own = sizes.get(owner)
      own?.delete(id)
      if (own?.size === 0) sizes.delete(owner)
    },
  }
}

/** A job whose result has made room for those of later ones. */
export const dropResult = (whole: StoredJob): StoredJob => {
  const { result: _, ...job } = whole
  return { ...job, message: 'Its result was removed, because the results of later jobs needed the room.' }
}
