import type { ProgressOptions } from '#lib/async/progress.ts'
import { isFault } from '#lib/errors.ts'
import type { WorkFolders } from '#lib/platform/work-folders.ts'

/** A download that is running, with those who share it. */
interface Flight<T> {
  readonly folder: Promise<string>
  readonly download: Promise<T>
  /** The progress callbacks of those who share it. */
  readonly listeners: Set<(bytes: number) => void>
  readonly controller: AbortController
  bytes: number
  ending: Promise<void> | undefined
}

/**
 * Joins the download of a name, or opens it in a work folder. Disposing of the result releases the share. When the last one
 * is released, the download is closed.
 */
type Join<T> = (
  name: readonly string[],
  open: (folder: string, options: ProgressOptions) => Promise<T>,
  options: ProgressOptions,
) => Promise<AsyncDisposable & { readonly value: T }>

/**
 * Creates a function by which callers share one download of each name. The folder of a closed download is removed, except in
 * two cases: a shutdown of the service leaves it for the next start, and an outage, which `close` reports, keeps it for a day.
 */
export const createSingleFlight = <T extends { close(): Promise<boolean> }>(folders: WorkFolders): Join<T> => {
  const flights = new Map<string, Flight<T>>()

  const start = (
    name: readonly string[],
    open: (folder: string, options: ProgressOptions) => Promise<T>,
  ): Flight<T> => {
    const controller = new AbortController()
    const listeners: Flight<T>['listeners'] = new Set()
    const onProgress = (bytes: number): void => {
      flight.bytes = bytes
      for (const listener of listeners) listener(bytes)
    }
    const folder = folders.open('pull', ...name)
    const download = folder.then(path => open(path, { signal: controller.signal, onProgress }))
    const flight: Flight<T> = { folder, download, listeners, controller, bytes: 0, ending: undefined }
    return flight
  }
  const end = async ({ folder, download, controller }: Flight<T>, isShutdown: boolean): Promise<void> => {
    controller.abort(new Error('nobody waits for the pack any more'))
    const isInterrupted = await download.then(
      opened => opened.close(),
      () => false,
    )
    const path = await folder
    if (isShutdown) return
    await (isInterrupted ? folders.keep(path) : folders.remove(path))
  }

  return async (name, open, { signal, onProgress }) => {
    const key = name.join(' ')
    for (let ended = flights.get(key); ended?.ending; ended = flights.get(key)) await ended.ending
    const flight = flights.get(key) ?? start(name, open)
    flights.set(key, flight)
    flight.listeners.add(onProgress)
    const release = async (): Promise<void> => {
      flight.listeners.delete(onProgress)
      if (flight.listeners.size > 0) return
      const isShutdown = signal.aborted && isFault(signal.reason, 'unavailable')
      flight.ending = end(flight, isShutdown)
        .catch(() => {})
        .finally(() => flights.delete(key))
      await flight.ending
    }
    try {
      const value = await flight.download
      onProgress(flight.bytes)
      return { value, [Symbol.asyncDispose]: release }
    } catch (error) {
      await release()
      throw error
    }
  }
}
