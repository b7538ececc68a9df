/** Splits chunks of text into lines without line ends. */
export interface LineReader {
  /** Adds a chunk of text. Throws if a line is longer than the limit; the reader is then unusable. */
  push(text: string): void
  /** Returns the present incomplete line. */
  remainder(): string
}

/** Creates a reader for lines of at most `limit` characters, which bounds the memory that a sender can use. */
export const createLineReader = (limit: number, onLine: (line: string) => void): LineReader => {
  let remainder = ''
  return {
    push(text) {
      let from = 0
      for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
        const line = remainder + text.slice(from, end)
        remainder = ''
        from = end + 1
        onLine(line)
      }
      remainder += text.slice(from)
      if (remainder.length > limit) throw new Error(`a line of more than ${limit} characters`)
    },
    remainder: () => remainder,
  }
}
