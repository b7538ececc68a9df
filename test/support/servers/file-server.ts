import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How the server answers one request. */
type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A server of files whose behaviour the test decides. */
export interface FileServer extends AsyncDisposable {
  readonly url: string
  /** The requests so far: path, Range and If-Range. */
  readonly requests: {
    readonly path: string
    readonly range: string | undefined
    readonly ifRange: string | undefined
  }[]
  /** Decides how a path is answered from now on. */
  serve(path: string, answer: Answer): void
}

/** Starts a server on a free port of loopback. It answers 404 for a path that nobody serves. */
export const startFileServer = async (): Promise<FileServer> => {
  const answers = new Map<string, Answer>()
  const requests: FileServer['requests'] = []
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost')
    const { range, 'if-range': ifRange } = request.headers
    requests.push({ path: pathname, range, ifRange: ifRange as string | undefined })
    const answer = answers.get(pathname)
    if (answer) answer(request, response)
    else response.writeHead(404).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    serve: (path, answer) => void answers.set(path, answer),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

interface Served {
  readonly etag?: string
  /** Bytes after which the connection is cut; the next request gets as many again. */
  readonly cutAfter?: number
}

/** Answers with bytes, and with ranges of them as RFC 9110 says. */
export const rangesOf =
  (bytes: Uint8Array, { etag = '"one"', cutAfter }: Served = {}): Answer =>
  ({ headers }, response) => {
    const [, first] = /^bytes=(\d+)-$/.exec(headers.range ?? '') ?? []
    const isSame = headers['if-range'] === undefined || headers['if-range'] === etag
    const start = first !== undefined && isSame ? Number(first) : 0
    const common = { ETag: etag, 'Accept-Ranges': 'bytes', 'Content-Length': bytes.length - start }
    if (start > 0)
      response.writeHead(206, { ...common, 'Content-Range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` })
    else response.writeHead(200, common)
    const part = bytes.subarray(start)
    if (cutAfter === undefined || part.length <= cutAfter) response.end(part)
    else response.write(part.subarray(0, cutAfter), () => setTimeout(() => response.destroy(), 20))
  }

/** Answers with the whole file, whatever range is asked for, and without a tag. */
export const wholeOf =
  (bytes: Uint8Array): Answer =>
  (_, response) => {
    response.writeHead(200, { 'Content-Length': bytes.length })
    response.end(bytes)
  }
