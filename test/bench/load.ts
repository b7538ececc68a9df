import { connect } from 'node:net'
import { processorTime, type Server } from './processes.ts'

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

const connections = 32

/** Keeps 32 connections busy for some milliseconds; gives requests per second and the server's processor µs for each. */
export const load = async ({ pid, port }: Server, target: Target, milliseconds: number) => {
  const size = await replySize(port, target)
  const request = textOf(target)
  let replies = 0
  const before = processorTime(pid)
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: connections }, () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const socket = connect(port, '127.0.0.1')
      let received = 0
      socket.once('error', reject)
      socket.on('data', chunk => {
        received += chunk.length
        if (received < size) return
        received -= size
        replies += 1
        if (performance.now() - begun < milliseconds) socket.write(request)
        else socket.end()
      })
      socket.once('close', () => resolve())
      socket.write(request)
      return promise
    }),
  )
  const elapsed = performance.now() - begun
  return { perSecond: (replies / elapsed) * 1000, microseconds: (processorTime(pid) - before) / replies }
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

export const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))]!
