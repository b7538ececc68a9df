import { isFault } from '#lib/errors.ts'
import type { WorkFolders } from './work-folder.ts'

export interface Following {
  readonly signal: AbortSignal
  /** Is told how many bytes are on this host. */
  readonly onProgress: (bytes: number) => void
}

interface Share<T> {
  readonly folder: Promise<string>
  readonly opened: Promise<T>
  readonly followers: Set<(bytes: number) => void>
  readonly controller: AbortController
  bytes: number
  ended: Promise<void> | undefined
}

/**
 * What is fetched into folders of this host, each of one name: who wants one that is on its way already joins. Disposing
 * lets go; the last one out removes what was fetched, unless the service's end is why, or an outage: `close` says that.
 */
export const createShares = <T extends { close(): Promise<boolean> }>(
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
    const folder = folders.open('pull', ...name)
    const opened = folder.then(path => open(path, { signal: controller.signal, onProgress }))
    const share: Share<T> = { folder, opened, followers, controller, bytes: 0, ended: undefined }
    return share
  }
  /** `leave`: what is there is for the next start of the service. */
  const end = async ({ folder, opened, controller }: Share<T>, leave: boolean): Promise<void> => {
    controller.abort(new Error('nobody waits for the pack any more'))
    const isCutOff = await opened.then(
      of => of.close(),
      () => false,
    )
    const path = await folder
    if (leave) return
    await (isCutOff ? folders.keep(path) : folders.remove(path))
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
      const leave = signal.aborted && isFault(signal.reason, 'unavailable')
      share.ended = end(share, leave)
        .catch(() => {})
        .finally(() => running.delete(key))
      await share.ended
    }
    try {
      const of = await share.opened
      onProgress(share.bytes)
      return { of, [Symbol.asyncDispose]: release }
    } catch (error) {
      await release()
      throw error
    }
  }
}
