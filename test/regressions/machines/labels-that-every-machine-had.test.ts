import { expect } from 'vitest'
import { test } from '../../support/harness.ts'

test('a selector finds labels that a machine has, and none that every object has', async ({ call }) => {
  for (const [name, labels] of Object.entries({ plain: {}, built: { constructor: 'acme' } }))
    await call('POST', '/api/v1/machines', { body: { name, memory: 16, disks: [{ size: 1 }], labels } })
  const select = async (labels: string) => {
    const { body } = await call('GET', `/api/v1/machines?labels=${encodeURIComponent(labels)}&fields=Name`)
    return body.map(({ Name }: { Name: string }) => Name)
  }
  expect(await select('constructor')).toEqual(['built'])
  expect(await select('!constructor')).toEqual(['plain'])
  expect(await select('toString')).toEqual([])
  expect(await select('constructor in (acme)')).toEqual(['built'])
  expect(await select('constructor notin (acme)')).toEqual(['plain'])
})
