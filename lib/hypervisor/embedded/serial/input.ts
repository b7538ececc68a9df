/** What waits to be taken by the guest from one of its serial lines. */
export interface SerialInput {
  add(bytes: Uint8Array): void
}

interface Options {
  /** Gives bytes to the emulated line, which stores any number of them. */
  readonly send: (bytes: Uint8Array) => void
  /** True if the guest has taken all that the line had. */
  readonly isEmpty: () => boolean
  /** Called with the number of bytes that the guest has taken. */
  readonly onTaken: (count: number) => void
}

/** Bytes that the line has at a time, and the milliseconds until the next ones: a kernel drops what its programs do not read. */
const portion = 1024
const interval = 4

/** Creates the input of a line. It gives the guest a portion at a time, so that the guest can read what it takes. */
export const createSerialInput = ({ send, isEmpty, onTaken }: Options): SerialInput => {
  const waiting: Uint8Array[] = []
  let sent = 0
  let timer: NodeJS.Timeout | undefined

  const sendNext = (): void => {
    timer = undefined
    if (isEmpty()) {
      if (sent > 0) onTaken(sent)
      sent = 0
      const [next] = waiting
      if (!next) return
      const part = next.subarray(0, portion)
      if (part.length === next.length) waiting.shift()
      else waiting[0] = next.subarray(portion)
      sent = part.length
      send(part)
    }
    timer = setTimeout(sendNext, interval)
  }
  return {
    add(bytes) {
      if (bytes.length > 0) waiting.push(bytes)
      if (!timer) sendNext()
    },
  }
}
