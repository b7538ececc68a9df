import { createKeyCounts } from '#lib/async/key-counts.ts'
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
  const readers = createKeyCounts()
  const claim: DiskClaims['claim'] = ({ identity, path }, id, name) => {
    const owner = owners.get(identity)
    if (owner && owner.id !== id)
      throw new ServiceError('conflict', `The disk ${path} of ${name} is in use by ${owner.name}; stop that first.`)
    owners.set(identity, { id, name })
  }
  const release: DiskClaims['release'] = id => {
    for (const [identity, owner] of owners) if (owner.id === id) owners.delete(identity)
  }
  return {
    claim,
    release,
    claimForReading(disk, id, name) {
      claim(disk, id, name)
      const reader = readers.add(id)
      return {
        [Symbol.dispose]() {
          reader[Symbol.dispose]()
          if (readers.get(id) === 0) release(id)
        },
      }
    },
  }
}
