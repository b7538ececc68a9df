import { http, HttpResponse } from 'msw'
import { expect } from 'vitest'
import { at, register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

const provider = {
  type: 'minio',
  meta: { bucket: 'packs', endpoint: 'http://slow.example', access_key: 'a', secret_key: 'b' },
}

test('a storage that does not reply delays only its own manifest, and no other of the catalog id', async ({
  call,
  network,
}) => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>()
  network.use(
    http.all('http://slow.example/*', async () => {
      isAsked()
      await answered
      return new HttpResponse(undefined, { status: 404 })
    }),
  )
  await register(call, { version: 'slow', provider, path: '/win11', pack_path: 'pack', metadata_path: 'meta' })
  await register(call, { version: 'fast' })
  const tag = (version: string) =>
    call('PATCH', `${at('win11', version, 'arm64')}/tags`, { body: { tags: ['changed'] } })
  const slow = tag('slow')
  await asked
  expect((await tag('fast')).status).toBe(200)
  expect((await register(call, { version: 'new' })).status).toBe(200)
  expect((await call('DELETE', at('win11', 'fast'))).status).toBe(202)
  answer()
  await slow
})
