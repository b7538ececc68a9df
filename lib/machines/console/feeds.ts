import { readSerialOutput, type SerialOutput } from '#lib/hypervisor/files/serial-output.ts'
import { watchSerialLog } from '#lib/hypervisor/files/watch-serial-log.ts'

/** The serial output of one machine as it comes. All its readers share one look at the log. */
export interface Feed extends Disposable {
  /** The offset after the newest byte that was read. */
  end(): number
  /** The piece of output that was read last. */
  latest(): Pick<SerialOutput, 'bytes' | 'offset'>
}

/** The feeds of all machines that somebody reads. */
export interface Feeds {
  /** Opens the feed of the machine with this folder. `onOutput` is called after each new piece, until the feed is disposed. */
  open(home: string, onOutput: () => void): Promise<Feed>
}

interface SharedFeed extends Omit<Feed, keyof Disposable> {
  readonly listeners: Set<() => void>
  /** Resolves when the end of the log is known. */
  readonly opened: Promise<void>
  close(): void
}

/** Bytes that one look at the log reads at most. */
const pieceSize = 256 * 1024

const createSharedFeed = (home: string): SharedFeed => {
  const listeners = new Set<() => void>()
  let latest: Pick<SerialOutput, 'bytes' | 'offset'> = { bytes: Buffer.alloc(0), offset: 0 }
  let end = 0
  let isReading = false
  let isStale = false

  const readNew = async (): Promise<void> => {
    const { bytes, offset } = await readSerialOutput(home, end, pieceSize)
    isStale ||= bytes.length > 0
    end = offset + bytes.length
    if (bytes.length === 0) return
    latest = { bytes, offset }
    for (const onOutput of listeners) onOutput()
  }
  const onChange = async (): Promise<void> => {
    isStale = true
    if (isReading) return
    isReading = true
    // A log that cannot be read now is read again after its next change, or by the timer.
    while (isStale) {
      isStale = false
      await readNew().catch(() => {})
    }
    isReading = false
  }
  const opened = readSerialOutput(home, 0, 0).then(found => {
    end = found.end
    latest = { bytes: Buffer.alloc(0), offset: end }
  })
  let watching: Disposable | undefined
  let isClosed = false
  void opened.then(() => {
    if (!isClosed) watching = watchSerialLog(home, () => void onChange())
  })
  return {
    listeners,
    opened,
    end: () => end,
    latest: () => latest,
    close() {
      isClosed = true
      watching?.[Symbol.dispose]()
    },
  }
}

export const createFeeds = (): Feeds => {
  const feeds = new Map<string, SharedFeed>()
  return {
    async open(home, onOutput) {
      const feed = feeds.get(home) ?? createSharedFeed(home)
      feeds.set(home, feed)
      feed.listeners.add(onOutput)
      await feed.opened
      return {
        end: feed.end,
        latest: feed.latest,
        [Symbol.dispose]() {
          feed.listeners.delete(onOutput)
          if (feed.listeners.size > 0) return
          feed.close()
          if (feeds.get(home) === feed) feeds.delete(home)
        },
      }
    },
  }
}
