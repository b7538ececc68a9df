import { isFault } from '#lib/errors.ts'
import type { PackSource } from './pack-source.ts'
import { openPieces, type Pieces } from './pieces.ts'
import type { WorkFolders } from './work-folder.ts'

/** The bytes of a pack from its begin to its end, as they come in. */
export interface Lease extends AsyncDisposable {
  stream(): ReadableStream<Uint8Array>
}

/** Packs on their way to this host: who wants one that is on its way already joins. */
export interface Downloads {
  /** `onProgress` is told how many bytes are on this host. Disposing lets go; the last one out removes what was fetched. */
  lease(
    source: PackSource,
    how: { readonly signal: AbortSignal; readonly onProgress: (bytes: number) => void },
  ): Promise<Lease>
}

interface Download {
  readonly opened: Promise<{ readonly folder: string; readonly pieces: Pieces }>
  readonly followers: Set<(bytes: number) => void>
  readonly controller: AbortController
  bytes: number
  ended: Promise<void> | undefined
}

const chunkSize = 1024 * 1024

const follow = (pieces: Pieces, signal: AbortSignal): ReadableStream<Uint8Array> => {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  aborted.catch(() => {})
  signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  let at = 0
  return new ReadableStream(
    {
      async pull(controller) {
        signal.throwIfAborted()
        if (at >= pieces.size) return controller.close()
        const end = await Promise.race([pieces.reached(at), aborted])
        const chunk = await pieces.read(at, Math.min(chunkSize, end - at))
        at += chunk.length
        controller.enqueue(chunk)
      },
    },
    { highWaterMark: 2 },
  )
}

/** A pack that need not come: nothing is kept of it, and nobody shares the reading. */
const nearLease = async (
  source: PackSource,
  { signal, onProgress }: Parameters<Downloads['lease']>[1],
): Promise<Lease> => {
  const bytes = await source.read({ start: 0, end: source.size }, signal)
  let seen = 0
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength
      onProgress(seen)
      controller.enqueue(chunk)
    },
  })
  const stream = bytes.pipeThrough(counted)
  return {
    stream: () => stream,
    // One that somebody reads is theirs to end, and cannot be cancelled here.
    [Symbol.asyncDispose]: () => stream.cancel().catch(() => {}),
  }
}

/**
 * The same pack from the same place has the same name: what one place does wrong is nothing to who reads from another.
 * Without a digest it is the one of a manifest as it is now.
 */
const nameOf = ({ origin, sha256, size, manifest }: PackSource): readonly string[] =>
  sha256 === undefined ? [origin, manifest.id, manifest.updated_at, String(size)] : [origin, sha256]

export const createDownloads = (folders: WorkFolders): Downloads => {
  const running = new Map<string, Download>()

  const begin = (source: PackSource): Download => {
    const controller = new AbortController()
    const followers: Download['followers'] = new Set()
    const onProgress = (bytes: number): void => {
      download.bytes = bytes
      for (const follower of followers) follower(bytes)
    }
    const open = async () => {
      const folder = await folders.open('pull', ...nameOf(source))
      return { folder, pieces: await openPieces(source, folder, { signal: controller.signal, onProgress }) }
    }
    const download: Download = { opened: open(), followers, controller, bytes: 0, ended: undefined }
    return download
  }
  /** `keep`: what is there is for the next start of the service. */
  const end = async ({ opened, controller }: Download, keep: boolean): Promise<void> => {
    controller.abort(new Error('nobody waits for the pack any more'))
    const { folder, pieces } = await opened
    await pieces.close()
    if (!keep) await folders.remove(folder)
  }

  return {
    async lease(source, how) {
      if (source.near) return nearLease(source, how)
      const { signal, onProgress } = how
      const key = nameOf(source).join(' ')
      for (let known = running.get(key); known?.ended; known = running.get(key)) await known.ended
      const download = running.get(key) ?? begin(source)
      running.set(key, download)
      download.followers.add(onProgress)
      const release = async (): Promise<void> => {
        download.followers.delete(onProgress)
        if (download.followers.size > 0) return
        const keep = signal.aborted && isFault(signal.reason, 'unavailable')
        download.ended = end(download, keep)
          .catch(() => {})
          .finally(() => running.delete(key))
        await download.ended
      }
      try {
        const { pieces } = await download.opened
        onProgress(download.bytes)
        return { stream: () => follow(pieces, signal), [Symbol.asyncDispose]: release }
      } catch (error) {
        await release()
        throw error
      }
    },
  }
}
