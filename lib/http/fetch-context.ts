import { toBodyReadError, createBodyTooLargeError } from './body.ts'
import { RequestContext } from './context.ts'
import type { Route } from './endpoint.ts'
import type { Upgrade } from '#lib/calls/upgrade.ts'

/** Where a request comes from. */
export interface Origin {
  /** The caller's IP address. */
  readonly address: string
  /** Receives the `Upgrade` of a WebSocket request; absent for any other request. */
  readonly acceptUpgrade?: (upgrade: Upgrade) => void
}

/** A request from a `Request` of the fetch standard. */
export class FetchContext extends RequestContext {
  readonly #request: Request
  readonly #origin: Origin

  constructor(request: Request, origin: Origin, matched?: { readonly route: Route; readonly params: unknown }) {
    super(request.method, origin.address, matched)
    this.#request = request
    this.#origin = origin
  }

  header(name: string): string | null {
    return this.#request.headers.get(name)
  }

  searchParams(): URLSearchParams {
    return new URL(this.#request.url).searchParams
  }

  protected override get isEncrypted(): boolean {
    return this.#request.url.startsWith('https:')
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  override get acceptUpgrade(): ((upgrade: Upgrade) => void) | undefined {
    return this.#origin.acceptUpgrade
  }

  override async *bodyStream(): AsyncIterable<Uint8Array> {
    try {
      yield* this.#request.body ?? []
    } catch (error) {
      throw toBodyReadError(error)
    }
  }

  /** Refuses a body that is too large before holding it in memory. */
  async readBytes(limit: number): Promise<Uint8Array> {
    if (Number(this.header('content-length')) > limit) throw createBodyTooLargeError(limit)
    if (!this.#request.body) return new Uint8Array()
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of this.bodyStream()) {
      size += chunk.length
      if (size > limit) throw createBodyTooLargeError(limit)
      chunks.push(chunk)
    }
    const [first, ...others] = chunks
    if (first && others.length === 0) return first
    const bytes = new Uint8Array(size)
    let at = 0
    for (const chunk of chunks) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    return bytes
  }
}
