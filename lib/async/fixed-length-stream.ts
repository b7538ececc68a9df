type FixedLength = new (size: number) => TransformStream<Uint8Array, Uint8Array>

/** What a Worker has for bodies of a known length, which gives them a Content-Length; Node has none, and takes the header as it is. */
export const { FixedLengthStream } = globalThis as { readonly FixedLengthStream?: FixedLength }
