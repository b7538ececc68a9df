import { ServiceError } from '#lib/errors.ts'
import { splitObjectPath } from './object-path.ts'
import type { Provider } from './provider.ts'

interface Options {
  /** The keys of the objects that are being written, by all providers that share this set. */
  readonly writing: Set<string>
  /** Gives the key of an object: the same one for each provider and each path that leads to it. */
  readonly getKey: (path: string) => string | Promise<string>
}

/** Throws `conflict` when the SHA-256 of the bytes of a write is not the expected one; any is right when none is expected. */
export const checkDigest = (path: string, sha256: string, expected: string | undefined): void => {
  if (expected !== undefined && sha256 !== expected)
    throw new ServiceError('conflict', `The bytes of ${path} are not those that their SHA-256 says.`)
}

/**
 * Gives a provider that refuses to write an object that is being written already, with `conflict`, and that never removes
 * what a running write has sent.
 */
export const guardWrites = (provider: Provider, { writing, getKey }: Options): Provider => {
  const isBeingWritten = async (path: string): Promise<boolean> => {
    splitObjectPath(path)
    return writing.has(await getKey(path))
  }
  const { cleanUpUploads } = provider
  return {
    ...provider,
    async write(path, source, options) {
      splitObjectPath(path)
      const key = await getKey(path)
      if (writing.has(key)) throw new ServiceError('conflict', `${path} is being written already.`)
      writing.add(key)
      try {
        await provider.write(path, source, options)
      } finally {
        writing.delete(key)
      }
    },
    async remove(path, signal) {
      await provider.remove(path, signal, { keepsUploads: await isBeingWritten(path) })
    },
    ...(cleanUpUploads && {
      async cleanUpUploads(path: string, signal?: AbortSignal) {
        if (!(await isBeingWritten(path))) await cleanUpUploads(path, signal)
      },
    }),
  }
}
