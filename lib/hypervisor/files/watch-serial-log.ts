import { type FSWatcher, watch } from 'node:fs'
import { join } from 'node:path'
import { serialLogName } from './serial-output.ts'

/** Milliseconds between two looks at a log whose changes the system does not report. */
const pollInterval = 100
/** How many of these pass between two looks at a log whose changes it reports. */
const watchedPolls = 10

/** Calls `onChange` whenever the log in a machine's folder may have grown, and from time to time, until disposed. */
export const watchSerialLog = (home: string, onChange: () => void): Disposable => {
  let watcher: FSWatcher | undefined
  let polls = 0
  const close = (): void => {
    watcher?.close()
    watcher = undefined
  }
  const open = (): void => {
    try {
      watcher = watch(join(home, serialLogName), { persistent: false }, event => {
        // The file was rotated. The next look opens the new one.
        if (event === 'rename') close()
        onChange()
      })
      watcher.on('error', close)
    } catch {
      // There is no log yet, or the system watches no more files; then the timer finds the output.
    }
  }
  const timer = setInterval(() => {
    polls += 1
    const wasWatched = watcher !== undefined
    if (!wasWatched) open()
    if (!wasWatched || polls % watchedPolls === 0) onChange()
  }, pollInterval)
  timer.unref()
  open()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      close()
    },
  }
}
