import { isFault } from '#lib/errors.ts'
import type { WorkFolders } from './work-folder.ts'

export interface Following {
  readonly signal: AbortSignal
  /** Is told how many bytes are on this host. */
  readonly onProgress: (bytes: number) => void
}

interface Share<T> {
  readonly opened: Promise<{ readonly folder: string; readonly of: T }>
  readonly followers: Set<(bytes: number) => void>
  readonly controller: AbortController
  bytes: number
  ended: Promise<void> | undefined
}

/**
 * What is fetched into folders of this host, each of one name: who wants one that is on its way already joins. Disposing
 * lets go; the last one out removes what was fetched, unless the service's end is why.
 */
export const createShares = <T extends { close(): Promise<void> }>(
  folders: WorkFolders,
): ((
  name: readonly string[],
  open: (folder: string, how: Following) => Promise<T>,
  how: Following,
) => Promise<AsyncDisposable & { readonly of: T }>) => {
  const running = new Map<string, Share<T>>()

  const begin = (name: readonly string[], open: (folder: string, how: Following) => Promise<T>): Share<T> => {
    const controller = new AbortController()
    const followers: Share<T>['followers'] = new Set()
    const onProgress = (bytes: number): void => {
      share.bytes = bytes
      for (const follower of followers) follower(bytes)
    }
    const opened = async () => {
      const folder = await folders.open('pull', ...name)
      return { folder, of: await open(folder, { signal: controller.signal, onProgress }) }
    }
    const share: Share<T> = { opened: opened(), followers, controller, bytes: 0, ended: undefined }
    return share
  }
  /** `keep`: what is there is for the next start of the service. */
  const end = async ({ opened, controller }: Share<T>, keep: boolean): Promise<void> => {
    controller.abort(new Error('nobody waits for the pack any more'))
    const { folder, of } = await opened
    await of.close()
    if (!keep) await folders.remove(folder)
  }

  return async (name, open, { signal, onProgress }) => {
    const key = name.join(' ')
    for (let known = running.get(key); known?.ended; known = running.get(key)) await known.ended
    const share = running.get(key) ?? begin(name, open)
    running.set(key, share)
    share.followers.add(onProgress)
    const release = async (): Promise<void> => {
      share.followers.delete(onProgress)
      if (share.followers.size > 0) return
      const keep = signal.aborted && isFault(signal.reason, 'unavailable')
      share.ended = end(share, keep)
        .catch(() => {})
        .finally(() => running.delete(key))
      await share.ended
    }
    try {
      const { of } = await share.opened
      onProgress(share.bytes)
      return { of, [Symbol.asyncDispose]: release }
    } catch (error) {
      await release()
      throw error
    }
  }
}
