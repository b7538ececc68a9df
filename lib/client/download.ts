import { getBody } from './body.ts'
import { expectSuccess, VmhostError } from './error.ts'
import { backOff, pause, throwUnlessPassing } from './retry.ts'
import type { Send } from './send.ts'
import type { SendRequest } from './types.ts'

const mostFailures = 5

/** The first and the last byte of a Content-Range; the whole content without one. */
const rangeOf = (response: Response): readonly [first: number, last: string] => {
  const [, first = '0', last = ''] = /(\d+)-(\d+)/.exec(response.headers.get('Content-Range') ?? '') ?? []
  return [Number(first), last]
}

/**
 * The bytes of a response. When the connection is lost, the rest is asked for by range. Fails when the content has changed
 * meanwhile, and after several failures without a byte between them.
 */
export const resumeDownload = (first: Response, send: Send, request: SendRequest): ReadableStream<Uint8Array> => {
  const etag = first.headers.get('ETag')
  let [position, last] = rangeOf(first)
  let reader = first.body?.getReader()
  let failures = 0

  const reopen = async (): Promise<void> => {
    const headers = new Headers(request.headers)
    headers.set('Range', `bytes=${position}-${last}`)
    const response = await expectSuccess(send({ ...request, headers }))
    if (response.status !== 206 || response.headers.get('ETag') !== etag)
      throw new VmhostError(412, { message: 'The content has changed.' })
    reader = getBody(response).getReader()
  }

  return new ReadableStream(
    {
      async pull(controller) {
        for (;;)
          try {
            if (failures > 0) {
              await pause(backOff(failures), request.signal)
              await reopen()
            }
            const { done, value } = (await reader?.read()) ?? { done: true }
            if (done) return controller.close()
            position += value.length
            failures = 0
            return controller.enqueue(value)
          } catch (error) {
            throwUnlessPassing(error, request.signal)
            if (etag === null || ++failures > mostFailures) throw error
          }
      },
      cancel: reason => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
