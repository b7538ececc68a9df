/** A message of a stream of server-sent events (HTML standard, 9.2). */
interface ServerSentEvent {
  readonly id?: string
  readonly event?: string
  readonly data?: string
}

const parseMessage = (text: string): ServerSentEvent =>
  Object.fromEntries(
    text
      .split('\n')
      .map(line => /^(\w+): ?(.*)$/.exec(line))
      .flatMap(match => (match ? [[match[1], match[2]]] : [])),
  ) as ServerSentEvent

/** Reads the messages of a stream. `read` gives its next piece; one that ends within a message leaves that out. */
export async function* readMessages(
  read: () => Promise<{ readonly value?: Uint8Array | undefined; readonly done: boolean }>,
): AsyncGenerator<ServerSentEvent, void> {
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { value, done } = await read()
    if (done) return
    const messages = (text + decoder.decode(value, { stream: true })).split('\n\n')
    text = messages.pop() ?? ''
    for (const message of messages) yield parseMessage(message)
  }
}
