import { createHash } from 'node:crypto'
import { ServiceError } from '#lib/errors.ts'
import type { ObjectStat, Provider } from '#lib/objects/port/provider.ts'

type Objects = Map<string, { bytes: Buffer; modifiedAt: number }>

export interface MemoryProvider extends Provider {
  readonly objects: Objects
}

/** A provider in memory. It awaits `step` before each action, which can delay the action or make it fail. */
export const createMemoryProvider = (
  step: (what: string) => Promise<void> = async () => {},
  objects: Objects = new Map(),
): MemoryProvider => {
  const writing = new Set<string>()
  const findStat = (path: string): ObjectStat | undefined => {
    const found = objects.get(path)
    return found && { path, size: found.bytes.length, modifiedAt: new Date(found.modifiedAt).toISOString() }
  }
  return {
    type: 'memory',
    objects,
    async stat(path) {
      await step(`stat ${path}`)
      return findStat(path)
    },
    async read(path) {
      await step(`read ${path}`)
      const found = objects.get(path)
      if (!found) throw new ServiceError('not-found', `There is no object ${path}.`)
      return new Blob([Uint8Array.from(found.bytes)]).stream()
    },
    async write(path, source, options) {
      if (writing.has(path)) throw new ServiceError('conflict', `${path} is being written already.`)
      writing.add(path)
      try {
        const parts: Uint8Array[] = []
        for await (const part of source.read({ start: 0, end: source.size })) parts.push(part)
        const bytes = Buffer.concat(parts)
        await step(`write ${path}`)
        if (options?.sha256 !== undefined && createHash('sha256').update(bytes).digest('hex') !== options.sha256)
          throw new ServiceError('conflict', `The bytes of ${path} are not those that their SHA-256 says.`)
        objects.set(path, { bytes, modifiedAt: Date.now() })
      } finally {
        writing.delete(path)
      }
    },
    async *list(folder) {
      await step(`list ${folder}`)
      for (const path of [...objects.keys()]) {
        if (!path.startsWith(`${folder}/`)) continue
        await step(`list ${path}`)
        const found = findStat(path)
        if (found) yield found
      }
    },
    async remove(path) {
      await step(`remove ${path}`)
      objects.delete(path)
    },
  }
}
