import { ServiceError } from '#lib/errors.ts'

/** The most bytes of a reply of a host, which is held in memory. */
const maxReplyBytes = 32 * 1024 * 1024

/** Reads the text of a reply. Throws `upstream` when it is too long. */
export const readLimited = async (response: Response, hostName: string): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  if (!response.body) return text
  const reader = response.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.length
    if (size > maxReplyBytes) {
      await reader.cancel()
      throw new ServiceError('upstream', `The reply of the host ${hostName} is larger than ${maxReplyBytes} bytes.`)
    }
    text += decoder.decode(value, { stream: true })
  }
}
