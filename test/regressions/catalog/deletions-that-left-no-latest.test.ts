import { expect } from 'vitest'
import { test } from '../../support/harness.ts'
import { at, register } from '../../functions/catalog/packs.ts'

test('concurrent deletions of several versions leave a latest one', async ({ call }) => {
  for (const version of ['1', '2', '3']) await register(call, { version })
  await Promise.all(['3', '2'].map(version => call('DELETE', `${at('win11', version)}?clean_remote=false`)))
  expect((await call('GET', at('win11', 'latest'))).body).toMatchObject([{ version: '1' }])
})

test('another architecture of an old version does not become the latest', async ({ call }) => {
  for (const version of ['1', '2']) await register(call, { version, architecture: 'x86_64' })
  await register(call, { version: '1', architecture: 'arm64' })
  expect((await call('GET', at('win11', 'latest', 'x86_64'))).body).toMatchObject([{ version: '2' }])
  await register(call, { version: '2', architecture: 'arm64' })
  expect((await call('GET', at('win11', 'latest'))).body).toHaveLength(2)
})
