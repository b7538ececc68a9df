import { isFault, ServiceError } from '#lib/errors.ts'
import { toSource } from '#lib/objects/port/bytes.ts'
import { maxSidecarSize } from '#lib/packs/sidecar.ts'
import { openRemoteContent, readRemotePart } from '#lib/remote-catalogs/remote-download.ts'
import type { RemoteCatalogSession } from '#lib/remote-catalogs/session.ts'
import { type PackDescription, type PackSource, parseMatchingSidecar } from './download/pack-source.ts'

/** Opens a pack that the other service serves itself. Returns undefined when that service is of another kind. */
export const openServedSource = async (
  session: RemoteCatalogSession,
  path: string,
  description: PackDescription,
  signal: AbortSignal,
): Promise<PackSource | undefined> => {
  const pack = await openRemoteContent(session, path, { content: 'pack' }, signal)
  if (!pack) return undefined
  const { size } = pack
  const sidecarBytes = await readRemotePart(session, path, { content: 'pieces' }, maxSidecarSize, signal).catch(
    (error: unknown) => {
      if (isFault(error, 'not-found')) return undefined
      throw error
    },
  )
  const { sha256 } = description
  const sidecar = parseMatchingSidecar(sidecarBytes, { size, sha256 })
  return {
    ...description,
    size,
    sha256: sha256 ?? sidecar?.sha256,
    sidecar,
    async read(range, readSignal) {
      const bytes = await pack.read(range, readSignal)
      return toSource(bytes).read({ start: 0, end: bytes.length })
    },
    async readStoredChunk(chunk, readSignal) {
      const query = { content: 'chunk', sha256: chunk.sha256 }
      const bytes = await readRemotePart(session, path, query, chunk.size, readSignal)
      if (!bytes) throw new ServiceError('upstream', 'The other catalog does not serve the chunks of the pack.')
      return bytes
    },
  }
}
