/** Returns the body of a response. Throws an Error for a response without one, which no streaming operation has. */
export const getBody = ({ body }: Response): ReadableStream<Uint8Array<ArrayBuffer>> => {
  if (body) return body
  throw new Error('The response has no body.')
}
