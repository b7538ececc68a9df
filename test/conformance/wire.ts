import { WebSocket } from 'ws'
import { toServedPath } from '#lib/calls/paths.ts'
import { until } from '../support/waiting.ts'
import type { Ask } from './case.ts'
import type { Running } from './runtimes/runtime.ts'

/** A reply as it came. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type Headers = Readonly<Record<string, string>>

/** Gives the path at which it is served; a path that begins with `/api` or `//` is one already. */
const toPath = (path: string): string => (/^\/(api|\/|v1$)/.test(path) ? path : toServedPath(path))

const toBody = (body: unknown): string | Uint8Array<ArrayBuffer> | undefined => {
  if (body === undefined || typeof body === 'string') return body
  // It was made here, so its buffer is not shared.
  return body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body)
}

/** Bytes of a body that is refused before it was read. The connection ends then, and the refusal may be lost with it. */
const largeBody = 64 * 1024

const retry = async <T>(send: () => Promise<T>, tries = 5): Promise<T> => {
  try {
    return await send()
  } catch (error) {
    if (tries === 1) throw error
    return retry(send, tries - 1)
  }
}

/** Reads server-sent events until there are so many; gives their frames without comments and without the first cursor. */
const readFrames = async (response: Response, count: number): Promise<string> => {
  let text = ''
  const frames = (): string[] =>
    text
      .split('\n\n')
      .slice(0, -1)
      .filter(frame => frame.includes('data: '))
  if (!response.body) return text
  for await (const bytes of response.body.pipeThrough(new TextDecoderStream())) {
    text += bytes
    if (frames().length >= count) break
  }
  return `${frames().slice(0, count).join('\n\n')}\n\n`
}

/** Sends requests to a service, and has the WebSocket to it that was opened last. */
export const createWire = (running: Running) => {
  let socket: WebSocket | undefined
  let messages: string[] = []

  const request = async (method: string, path: string, body: unknown, headers: Headers): Promise<Reply> => {
    const streams = method === 'STREAM'
    const abort = new AbortController()
    const sent = streams ? undefined : toBody(body)
    const init: RequestInit = {
      method: streams ? 'GET' : method,
      headers,
      redirect: 'manual',
      signal: abort.signal,
      ...(sent !== undefined && { body: sent }),
    }
    const send = (): Promise<Response> => running.fetch(toPath(path), init)
    const isLarge = (sent?.length ?? 0) >= largeBody
    const response = await (isLarge ? retry(send) : send())
    const text = streams && response.ok ? await readFrames(response, Number(body)) : await response.text()
    if (streams) abort.abort()
    return { status: response.status, headers: Object.fromEntries(response.headers), body: text }
  }

  const takeMessages = async (count: number, status: number): Promise<Reply> => {
    await until(() => {
      if (messages.length < count) throw new Error(`${messages.length} messages came, not ${count}: ${messages.join()}`)
    })
    const taken = messages.splice(0, count)
    return { status, headers: {}, body: `[${taken.join(',')}]` }
  }

  const openSocket = async (path: string, count: number, headers: Headers): Promise<Reply> => {
    socket?.terminate()
    const opened = new WebSocket(running.url.replace('http', 'ws') + toPath(path), { headers })
    socket = opened
    messages = []
    opened.on('message', (data: Buffer) => messages.push(data.toString()))
    const refusal = await new Promise<Reply | undefined>((settle, reject) => {
      opened.once('open', () => settle(undefined))
      opened.once('error', reject)
      opened.once('unexpected-response', (_, { statusCode = 0, headers: received }) =>
        settle({ status: statusCode, headers: { 'content-type': String(received['content-type']) }, body: '' }),
      )
    })
    return refusal ?? takeMessages(count, 101)
  }

  return {
    ask([method, path, body, own = {}]: Ask, credential: Headers): Promise<Reply> {
      const headers = { ...running.platformHeaders, ...credential, ...own }
      if (method === 'SOCKET') return openSocket(path, Number(body), headers)
      if (method === 'MESSAGES') return takeMessages(Number(body), 200)
      return request(method, path, body, headers)
    },
    [Symbol.dispose]: () => socket?.terminate(),
  }
}
