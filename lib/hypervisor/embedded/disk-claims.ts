import { stat } from 'node:fs/promises'
import { ServiceError } from '#lib/errors.ts'

/** Which machine has which disk in use: a disk has one writer, and a suspended machine expects to find it unchanged. */
export interface DiskClaims {
  /** Throws `conflict` when another machine has it. Taking what one has is no error. */
  take(path: string, id: string, name: string): Promise<void>
  release(id: string): void
}

/** Claims by the identity of the file, so that other names of it do not matter. */
export const createDiskClaims = (): DiskClaims => {
  const owners = new Map<string, { readonly id: string; readonly name: string }>()
  return {
    async take(path, id, name) {
      const { dev, ino } = await stat(path)
      const key = `${dev}:${ino}`
      const owner = owners.get(key)
      if (owner && owner.id !== id)
        throw new ServiceError('conflict', `The disk ${path} of ${name} is in use by ${owner.name}; stop that first.`)
      owners.set(key, { id, name })
    },
    release(id) {
      for (const [key, owner] of owners) if (owner.id === id) owners.delete(key)
    },
  }
}
