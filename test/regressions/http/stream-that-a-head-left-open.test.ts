import { expect, test } from 'vitest'
import * as z from 'zod'
import { createApp } from '#lib/http/app.ts'
import { endpoint, type Route } from '#lib/http/endpoint.ts'
import { StreamReply } from '#lib/calls/stream-reply.ts'

test('a HEAD request cancels the stream that a GET would read', async () => {
  const ends: string[] = []
  const stream: Route = {
    id: 'test/stream',
    endpoint: endpoint({
      method: 'GET',
      path: '/v1/stream',
      summary: 'Say something now and then',
      access: 'public',
      effect: 'read',
      uses: [],
      media: 'text/event-stream',
      reply: z.unknown(),
    }).handle(
      () => new StreamReply('text/event-stream', new ReadableStream({ cancel: () => void ends.push('ended') })),
    ),
  }
  const app = createApp({
    routes: [stream],
    services: {},
    authenticate: async () => undefined,
    onOutcome: () => {},
    checkReplies: true,
  })
  const ask = (method: string) => app.fetch(new Request('https://host-1.example.test/api/v1/stream', { method }))

  const { status, headers, body } = await ask('HEAD')
  expect([status, headers.get('content-type'), body]).toEqual([200, 'text/event-stream', null])
  expect(ends).toEqual(['ended'])
  const open = await ask('GET')
  expect(ends).toEqual(['ended'])
  await open.body!.cancel()
})
