/** Gathers what a command prints, up to a number of bytes; more is counted and dropped. */
export interface Output {
  /** A sink for one of the command's outputs: characters that are cut between two pieces are put together. */
  sink(): (piece: Buffer) => void
  text(): string
}

export const createOutput = (limit: number): Output => {
  const parts: string[] = []
  let size = 0
  let dropped = 0
  return {
    sink() {
      const decoder = new TextDecoder()
      return piece => {
        const room = Math.max(0, limit - size)
        size += Math.min(room, piece.length)
        dropped += Math.max(0, piece.length - room)
        if (room > 0) parts.push(decoder.decode(piece.subarray(0, room), { stream: true }))
      }
    },
    text: () => parts.join('') + (dropped > 0 ? `\n[output truncated: ${dropped} bytes more than ${limit}]` : ''),
  }
}
