import { once } from 'node:events'
import { connect } from 'node:net'
import { threadsTime, type Server } from './processes.ts'

export interface Target {
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const textOf = ({ method = 'GET', path, body, headers = {} }: Target): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`Content-Length: ${body.length}`]),
    '',
    body ?? '',
  ].join('\r\n')

/** The bytes of one whole reply: every later one of the same target is as long. */
const replySize = (port: number, target: Target): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let size = 0
    socket.on('data', chunk => void (size += chunk.length))
    socket.once('error', reject)
    socket.once('close', () => resolve(size))
    socket.write(textOf(target))
    setTimeout(() => socket.destroy(), 300)
  })

const connectionCount = 32

/** What a target was seen to cost in some milliseconds. */
export interface LoadResult {
  readonly perSecond: number
  /** The server's processor time for each request. */
  readonly microseconds: number
}

/** 32 open connections to a server, which all send the same request. */
export interface Load {
  /** Keeps every connection busy for some milliseconds. */
  run(milliseconds: number): Promise<LoadResult>
  close(): void
}

/** A connection that sends a request again and again. */
const openRequester = async (port: number, request: string, size: number) => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  let received = 0
  let onReply = (): void => undefined
  let onLoss: (error: Error) => void = () => undefined
  socket.on('data', chunk => {
    received += chunk.length
    if (received < size) return
    received -= size
    onReply()
  })
  socket.on('error', error => onLoss(error))
  socket.on('close', () => onLoss(new Error('a server of the benchmark closed its connection')))
  return {
    close: () => socket.destroy(),
    /** Gives the number of replies until `end`, in milliseconds of the clock of `performance`. */
    async repeat(end: number): Promise<number> {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      let replies = 0
      onLoss = reject
      onReply = () => {
        replies += 1
        if (performance.now() < end) socket.write(request)
        else resolve(replies)
      }
      socket.write(request)
      return promise
    },
  }
}

export const openLoad = async ({ pid, port }: Server, target: Target): Promise<Load> => {
  const size = await replySize(port, target)
  const requesters = await Promise.all(
    Array.from({ length: connectionCount }, () => openRequester(port, textOf(target), size)),
  )
  return {
    async run(milliseconds) {
      const before = threadsTime(pid)
      const begun = performance.now()
      const replies = await Promise.all(requesters.map(({ repeat }) => repeat(begun + milliseconds)))
      const elapsed = performance.now() - begun
      const count = replies.reduce((sum, number) => sum + number, 0)
      return { perSecond: (count / elapsed) * 1000, microseconds: (threadsTime(pid) - before) / count }
    },
    close: () => requesters.forEach(({ close }) => close()),
  }
}

/** One run over connections of its own. */
export const load = async (server: Server, target: Target, milliseconds: number): Promise<LoadResult> => {
  const opened = await openLoad(server, target)
  try {
    return await opened.run(milliseconds)
  } finally {
    opened.close()
  }
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

export const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!
