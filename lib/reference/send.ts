import type { ReadyRequest } from './request.ts'

/** A reply as far as it has arrived. */
export interface Received {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly type: string
  /** The body as text; undefined if it is bytes. */
  readonly text?: string
  /** The body once it is complete. */
  readonly content?: Blob
  /** Bytes that have arrived. */
  readonly size: number
  /** From the call to this point. */
  readonly milliseconds: number
  readonly isComplete: boolean
}

const isText = (type: string): boolean => /json|^text\//.test(type)

/** A page does not show more; the reader can still save the whole body. */
const shownCharacters = 512 * 1024

/** Shows JSON with an indent, and any other text as it is. */
const formatText = (text: string, type: string): string => {
  if (!type.includes('json')) return text
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

const cutText = (text: string): string =>
  text.length > shownCharacters ? `${text.slice(0, shownCharacters)}\n… cut here; save the reply to see the rest` : text

/**
 * Sends a request and reports the reply: after its headers, with each part of a body that is text, and at the end.
 * @param signal ends the request, such as that of a stream that has no end
 * Throws what `fetch` throws when the service cannot be reached or the signal has ended the request.
 */
export const sendRequest = async (
  { method, path, headers, body }: ReadyRequest,
  onReceived: (received: Received) => void,
  signal: AbortSignal,
): Promise<void> => {
  const startedAt = performance.now()
  const response = await fetch(path, {
    method,
    headers,
    signal,
    credentials: 'omit',
    ...(body !== undefined && { body }),
  })
  const type = response.headers.get('content-type') ?? ''
  const decoder = new TextDecoder()
  const parts: Uint8Array<ArrayBuffer>[] = []
  let text = ''
  let size = 0
  const report = (isComplete: boolean): void =>
    onReceived({
      status: response.status,
      statusText: response.statusText,
      headers: [...response.headers],
      type,
      ...(isText(type) && { text: cutText(isComplete ? formatText(text, type) : text) }),
      ...(isComplete && { content: new Blob(parts, { type }) }),
      size,
      milliseconds: performance.now() - startedAt,
      isComplete,
    })
  report(false)
  // Not every browser can iterate over a stream.
  const reader = response.body?.getReader()
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    parts.push(read.value)
    size += read.value.length
    if (isText(type)) text += decoder.decode(read.value, { stream: true })
    report(false)
  }
  report(true)
}
