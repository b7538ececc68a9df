/** The body of a request; it is opened again for each attempt. */
export interface RequestBody {
  readonly size: number
  open(): AsyncIterable<Uint8Array>
}

/** Bytes that are sent at a time: the granularity of progress, and what a slow connection must move within the idle timeout. */
const chunkSize = 256 * 1024

/** Makes a body of bytes in memory. `onSent` is called with the number of bytes sent so far. */
export const createBody = (bytes: Uint8Array, onSent?: (bytes: number) => void): RequestBody => ({
  size: bytes.length,
  async *open() {
    for (let at = 0; at < bytes.length; at += chunkSize) {
      yield bytes.subarray(at, at + chunkSize)
      onSent?.(Math.min(at + chunkSize, bytes.length))
    }
  },
})

export interface TrackedBody {
  readonly body: RequestBody
  /** Whether the request waits for the next bytes of the source. */
  isWaitingForSource(): boolean
  /** The error of the source itself, not of the connection. */
  sourceError(): { readonly error: unknown } | undefined
}

/** Wraps a body so that its state can be observed. */
export const trackBody = ({ size, open }: RequestBody): TrackedBody => {
  let isWaitingForSource = false
  let sourceError: { readonly error: unknown } | undefined
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    isWaitingForSource = true
    try {
      for await (const chunk of open()) {
        isWaitingForSource = false
        yield chunk
        isWaitingForSource = true
      }
    } catch (error) {
      // A broken connection throws its error into this generator while the source is not awaited.
      if (isWaitingForSource) sourceError = { error }
      throw error
    } finally {
      isWaitingForSource = false
    }
  }
  return { body: { size, open: bytes }, isWaitingForSource: () => isWaitingForSource, sourceError: () => sourceError }
}
