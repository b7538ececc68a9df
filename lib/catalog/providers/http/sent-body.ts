/** What is sent with a request; opened anew for every attempt. */
export interface Body {
  readonly size: number
  open(): AsyncIterable<Uint8Array>
}

/** Bytes that are handed on at a time: what progress is told by, and what a slow line must move within the idle limit. */
const step = 256 * 1024

/** Bytes in memory as a body. `onSent` is told how many of them have gone out. */
export const bodyOf = (bytes: Uint8Array, onSent?: (bytes: number) => void): Body => ({
  size: bytes.length,
  async *open() {
    for (let at = 0; at < bytes.length; at += step) {
      yield bytes.subarray(at, at + step)
      onSent?.(Math.min(at + step, bytes.length))
    }
  },
})

interface Watched {
  readonly body: Body
  /** Whether its bytes are what is waited for now. */
  isAwaited(): boolean
  /** What it failed with by itself, and not because nobody wanted more of it. */
  failure(): { readonly error: unknown } | undefined
}

/** A body of which it is seen what it does. */
export const watched = ({ size, open }: Body): Watched => {
  let isAwaited = false
  let failure: { readonly error: unknown } | undefined
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    isAwaited = true
    try {
      for await (const chunk of open()) {
        isAwaited = false
        yield chunk
        isAwaited = true
      }
    } catch (error) {
      // A connection that breaks throws its error in here, while nothing is awaited.
      if (isAwaited) failure = { error }
      throw error
    } finally {
      isAwaited = false
    }
  }
  return { body: { size, open: bytes }, isAwaited: () => isAwaited, failure: () => failure }
}
