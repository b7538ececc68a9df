/** Collects the output of a command up to a number of bytes. It counts the rest and drops it. */
export interface Output {
  /** Creates a sink for one of the two outputs. It joins characters that are split between two parts. */
  createSink(): (part: Buffer) => void
  readText(): string
}

export const createOutput = (limit: number): Output => {
  const texts: string[] = []
  let size = 0
  let dropped = 0
  return {
    createSink() {
      const decoder = new TextDecoder()
      return part => {
        const room = Math.max(0, limit - size)
        size += Math.min(room, part.length)
        dropped += Math.max(0, part.length - room)
        if (room > 0) texts.push(decoder.decode(part.subarray(0, room), { stream: true }))
      }
    },
    readText: () => texts.join('') + (dropped > 0 ? `\n[output truncated: ${dropped} bytes more than ${limit}]` : ''),
  }
}
