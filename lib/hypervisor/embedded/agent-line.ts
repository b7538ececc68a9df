import { Duplex } from 'node:stream'

/** The serial line of the guest agent as a stream. */
export interface AgentLine {
  readonly stream: Duplex
  /** Adds what the guest has sent. */
  receive(bytes: Uint8Array): void
}

/** Bytes that wait to be read. What the guest sends beyond is lost, as on any serial line that nobody reads. */
const limit = 1 << 20

/** Creates the stream of a line. What the guest does not take is lost: `send` throws then. */
export const createAgentLine = (send: (bytes: Uint8Array) => void): AgentLine => {
  let isFull = false
  const stream = new Duplex({
    readableHighWaterMark: limit,
    read() {
      isFull = false
    },
    write(chunk: Buffer, _, done) {
      try {
        send(chunk)
      } catch {
        // Whoever waits for a reply to it learns that the agent does not answer.
      }
      done()
    },
  })
  return {
    stream,
    receive(bytes) {
      if (!isFull && !stream.destroyed) isFull = !stream.push(bytes)
    },
  }
}
