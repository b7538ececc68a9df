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

/** The bytes of a body, whether they are what is waited for now, and what they failed with. */
export const watched = (body: Body) => {
  const state: { isAwaited: boolean; failed?: { readonly error: unknown } } = { isAwaited: false }
  const bytes = async function* (): AsyncGenerator<Uint8Array> {
    state.isAwaited = true
    try {
      for await (const chunk of body.open()) {
        state.isAwaited = false
        yield chunk
        state.isAwaited = true
      }
    } catch (error) {
      state.failed = { error }
      throw error
    } finally {
      state.isAwaited = false
    }
  }
  return { state, bytes }
}
