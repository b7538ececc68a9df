import { connect } from 'node:net'

/** A reply as it came over the connection, each byte a character. */
export interface RawReply {
  readonly status: number
  /** Each header by its name in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/**
 * Sends bytes on a connection of their own to a port of this host, or to a socket, and gives all that comes back until
 * the connection ends or `isEnough`. Rejects when nothing comes for five seconds.
 */
export const exchangeBytes = (
  target: number | string,
  bytes: string,
  isEnough: (text: string) => boolean = () => false,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = typeof target === 'number' ? connect(target, '127.0.0.1') : connect(target)
    let text = ''
    socket.setTimeout(5_000, () => socket.destroy(new Error(`no end after ${text}`)))
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      if (isEnough(text)) socket.destroy()
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(text))
    socket.write(bytes, 'latin1')
  })

const withoutContinue = (text: string): string => text.replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, '')

/** Whether the first reply is there, whatever may come after it; of a stream and of a WebSocket the head is all. */
export const isWhole = (text: string, method: string): boolean => {
  const [head = '', ...rest] = withoutContinue(text).split('\r\n\r\n')
  if (rest.length === 0) return false
  if (method === 'HEAD' || /^HTTP\/1\.1 (101|204|304) |\r\ncontent-type: text\/event-stream/i.test(head)) return true
  const body = rest.join('\r\n\r\n')
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  return length === undefined ? /(^|\r\n)0\r\n\r\n/.test(body) : body.length >= Number(length)
}

/** Reads the first reply. Throws for what is none. */
export const readReply = (text: string): RawReply => {
  const [head = '', ...rest] = withoutContinue(text).split('\r\n\r\n')
  const [first = '', ...lines] = head.split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
  if (!status) throw new Error(`no reply: ${text.slice(0, 200)}`)
  const headers = new Map(
    lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const body = rest.join('\r\n\r\n')
  return { status, headers, body: body.slice(0, Number(headers.get('content-length') ?? body.length)) }
}
