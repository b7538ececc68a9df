import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'

type DiskFile = Pick<OpenFile, 'identity' | 'path'>

/** Exclusive claims of machines on disks: a disk has one writer, and a suspended machine needs it unchanged. */
export interface DiskClaims {
  /** Claims a disk; a second claim of the same machine succeeds. Throws `conflict` if another machine has it. */
  claim(disk: DiskFile, id: string, name: string): void
  /** Claims a disk until disposed. Several readers of one machine share the claim; the last one releases it. */
  claimForReading(disk: DiskFile, id: string, name: string): Disposable
  release(id: string): void
}

/** Creates claims that identify a disk by its file and not by its path, so links to it do not matter. */
export const createDiskClaims = (): DiskClaims => {
  const owners = new Map<string, { readonly id: string; readonly name: string }>()
  const readerCounts = new Map<string, number>()
  const claim: DiskClaims['claim'] = ({ identity, path }, id, name) => {
    const owner = owners.get(identity)
    if (owner && owner.id !== id)
      throw new ServiceError('conflict', `The disk ${path} of ${name} is in use by ${owner.name}; stop that first.`)
    owners.set(identity, { id, name })
  }
  const release: DiskClaims['release'] = id => {
    for (const [identity, owner] of owners) if (owner.id === id) owners.delete(identity)
  }
  const endReading = (id: string): void => {
    const remaining = readerCounts.get(id)! - 1
    readerCounts.set(id, remaining)
    if (remaining > 0) return
    readerCounts.delete(id)
    release(id)
  }
  return {
    claim,
    release,
    claimForReading(disk, id, name) {
      claim(disk, id, name)
      readerCounts.set(id, (readerCounts.get(id) ?? 0) + 1)
      return { [Symbol.dispose]: () => endReading(id) }
    },
  }
}
