/** What a scripted service answers a request with; throwing is a lost connection. */
export type Answer = (request: Request) => Response | Promise<Response>

/** A `fetch` that answers from a script, and what it was asked. */
export interface ScriptedFetch {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly requests: Request[]
}

export const json = (value: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  Response.json(value, { status, headers })

export const lostConnection: Answer = () => {
  throw new TypeError('fetch failed')
}

/** Answers each request with the next entry of the script, and all others with the last one. */
export const scriptFetch = (...script: readonly Answer[]): ScriptedFetch => {
  const requests: Request[] = []
  return {
    requests,
    async fetch(url, init) {
      const request = new Request(url, init)
      requests.push(request)
      const response = await script[Math.min(requests.length, script.length) - 1]!(request)
      // A connection ends with its signal.
      const body = response.body?.pipeThrough(new TransformStream(), { signal: request.signal })
      return new Response(body, response)
    },
  }
}

/** A stream of these pieces. It ends after them; with `breaks` its connection is lost then, and with `stays` it stays open. */
export const streamOf = (
  pieces: readonly (string | Uint8Array)[],
  end: 'ends' | 'breaks' | 'stays' = 'ends',
): ReadableStream<Uint8Array> => {
  const rest = pieces.map(piece => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece))
  return new ReadableStream(
    {
      pull(controller) {
        const next = rest.shift()
        if (next) return controller.enqueue(next)
        if (end === 'ends') controller.close()
        if (end === 'breaks') controller.error(new TypeError('terminated'))
        return undefined
      },
    },
    { highWaterMark: 0 },
  )
}
