/** A line of the guest agent, without its end. */
export interface Frame {
  readonly bytes: Buffer
  /** True if the sentinel was directly before it: it is the reply to `guest-sync-delimited`. */
  readonly hasSentinel: boolean
}

/** Splits the bytes of a guest agent into lines. */
export interface FrameReader {
  /** Adds bytes. Throws if a line is longer than the limit; the next line can be read again. */
  push(chunk: Buffer): void
  /** Sets how many bytes of each text in a line are kept from now on. The reader drops the rest of the text. */
  setTextLimit(bytes: number): void
}

/** The sentinel byte that the agent sends before its reply to `guest-sync-delimited`. No text in UTF-8 contains it. */
export const sentinel = 0xff
const [newline, quote, backslash] = Buffer.from('\n"\\')

/** Bytes of a line beside its two longest texts: the members and the other texts. */
const frameAllowance = 256 * 1024

/**
 * Creates a reader whose memory is limited whatever the guest sends: it cuts long texts while it reads them, so that the output
 * of a command, which the agent sends as one text, needs no more memory than its caller wants to see.
 */
export const createFrameReader = (onFrame: (frame: Frame) => void): FrameReader => {
  let textLimit = 0
  let parts: Buffer[] = []
  let size = 0
  let hasSentinel = false
  let inText = false
  let isEscaped = false
  /** Bytes of the present text so far. */
  let textSize = 0
  /** True while the rest of a long text is dropped. */
  let isCut = false

  const startFrame = (isAfterSentinel: boolean): void => {
    parts = []
    size = 0
    hasSentinel = isAfterSentinel
    inText = isEscaped = isCut = false
  }
  const keep = (bytes: Buffer): void => {
    if (bytes.length === 0) return
    size += bytes.length
    const limit = 2 * textLimit + frameAllowance
    if (size > limit) {
      startFrame(false)
      throw new Error(`a message of more than ${limit} bytes`)
    }
    parts.push(bytes)
  }

  return {
    setTextLimit(bytes) {
      textLimit = bytes
    },
    push(chunk) {
      /** Where the bytes begin that are not kept yet. */
      let from = 0
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at]
        if (byte === sentinel) {
          startFrame(true)
          from = at + 1
        } else if (byte === newline) {
          // JSON has no line end inside of a text.
          if (!isCut) keep(chunk.subarray(from, at))
          const frame = { bytes: Buffer.concat(parts), hasSentinel }
          startFrame(false)
          from = at + 1
          if (frame.bytes.length > 0) onFrame(frame)
        } else if (!inText) {
          inText = byte === quote
          textSize = 0
        } else if (byte === quote && !isEscaped) {
          if (isCut) from = at
          inText = isCut = false
        } else {
          isEscaped = byte === backslash && !isEscaped
          textSize += 1
          if (textSize > textLimit && !isCut) {
            keep(chunk.subarray(from, at))
            isCut = true
          }
        }
      }
      if (!isCut) keep(chunk.subarray(from))
    },
  }
}
