import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../../support/service.ts'
import { until } from '../../support/waiting.ts'

test('the credentials of ended jobs are not in the store’s file any more', async () => {
  using state = newState()
  const service = await startService({ state: state.path, env: { VMHOST_ROOT_PASSWORD: rootPassword } })
  const token = await service.signIn()
  const secret = 'the-secret-of-the-storage'
  // Long enough to fill whole pages, which are freed when the job has ended.
  const body = {
    catalog_id: 'demo',
    version: '1',
    uuid: 'nobody',
    connection: `provider=minio;bucket=packs;endpoint=http://127.0.0.1:1;access_key=a;secret_key=${secret}`,
  }
  const ids: string[] = []
  for (let at = 0; at < 20; at += 1) {
    const begun = await service.call('POST', '/api/v1/catalog/push/async', { token, body })
    expect(begun.status).toBe(202)
    ids.push(begun.body.id)
  }
  for (const id of ids)
    await until(async () =>
      expect((await service.call('GET', `/api/v1/jobs/${id}`, { token })).body.state).toBe('failed'),
    )
  expect(await service.stop()).toBe(0)
  const files = readdirSync(state.path).filter(name => name.startsWith('store.db'))
  expect(files).toContain('store.db')
  for (const file of files) expect(readFileSync(join(state.path, file)).includes(secret), file).toBe(false)
})
