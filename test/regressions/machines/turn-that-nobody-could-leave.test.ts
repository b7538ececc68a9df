import { HttpResponse, http } from 'msw'
import { expect } from 'vitest'
import { at, register } from '../../functions/catalog/packs.ts'
import { test } from '../../support/harness.ts'

const provider = {
  type: 'minio',
  meta: { bucket: 'packs', endpoint: 'http://slow.example', access_key: 'a', secret_key: 'b' },
}
const manifest = { version: '1', provider, path: '/win11', pack_path: 'pack', metadata_path: 'meta' }
const place = at('win11', '1', 'arm64')

test.for([
  [
    'a registration',
    'POST',
    '/api/v1/catalog',
    { catalog_id: 'win11', architecture: 'arm64', type: 'pvm', ...manifest },
  ],
  ['a deletion', 'DELETE', place, undefined],
  ['a change', 'PATCH', `${place}/tags`, { tags: ['other'] }],
  ['a flag', 'PATCH', `${place}/taint`, undefined],
] as const)(
  '%s that nobody waits for any more leaves its turn',
  async ([, method, path, body], { call, open, network }) => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>()
    network.use(
      http.all('http://slow.example/*', async () => {
        isAsked()
        await answered
        return new HttpResponse(undefined, { status: 404 })
      }),
    )
    await register(call, manifest)
    const first = call('PATCH', `${place}/tags`, { body: { tags: ['changed'] } })
    await asked
    const given = new AbortController()
    const second = open(method, path, { ...(body && { body }), signal: given.signal }).catch((error: unknown) => error)
    await new Promise(resolve => void setImmediate(resolve))
    given.abort(new Error('gone'))
    // While the first has its turn.
    await second
    answer()
    await first
    const [shown] = (await call('GET', place)).body
    expect(shown).toMatchObject({ tainted: false })
    expect(shown.tags).not.toContain('other')
  },
)
