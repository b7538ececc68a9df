import { http, HttpResponse } from 'msw'
import { type SetupServer, setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'

/** What a promise fails with. */
export const failure = async (promise: Promise<unknown>): Promise<Error & { fault?: string }> =>
  promise.then(
    () => expect.unreachable('nothing went wrong'),
    (error: unknown) => error as Error,
  )

/** A reply before which the line breaks. */
export const breaking = (): Response =>
  new HttpResponse(
    new ReadableStream({
      pull() {
        throw new Error('cut')
      },
    }),
  )

type Answers = (address: string, ...replies: readonly (() => Response | Promise<Response>)[]) => Request[]

/**
 * A network of this test file that has nothing but what a test puts there. `answers` answers the requests for one
 * address one after the other, the last answer again and again, and keeps them.
 */
export const faultyNetwork = (): { readonly network: SetupServer; readonly answers: Answers } => {
  const network = setupServer()
  beforeAll(() => network.listen({ onUnhandledFrame: 'error' }))
  afterEach(() => network.resetHandlers())
  afterAll(() => network.close())
  return {
    network,
    answers(address, ...replies) {
      const asked: Request[] = []
      network.use(
        http.all(address, async ({ request }) => {
          const count = asked.push(request.clone())
          // Who answers before is taken for one who refuses.
          await request.arrayBuffer()
          return replies[Math.min(count, replies.length) - 1]!()
        }),
      )
      return asked
    },
  }
}
