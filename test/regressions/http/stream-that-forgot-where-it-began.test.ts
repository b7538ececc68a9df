import { expect } from 'vitest'
import { test } from '../../support/harness.ts'

const firstPiece = async (response: Response): Promise<string> => {
  const reader = response.body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

// A client that lost its connection before the first event had no cursor, so it missed what had happened meanwhile.
test('a stream of events begins with its cursor', async ({ call, open }) => {
  await call('POST', '/api/v1/auth/claims', { body: { name: 'A' } })
  const [, cursor] = /^id: ([0-9a-f]{8}-\d+)\n/.exec(await firstPiece(await open('GET', '/api/v1/events/stream'))) ?? []
  await call('POST', '/api/v1/machines', { body: { name: 'one', cpus: 1, memory: 16, disks: [{ size: 1 }] } })
  const { body } = await call('GET', `/api/v1/events?types=pdfm&since=${cursor}`)
  expect(body).toMatchObject({ events: [{ message: 'VM_ADDED' }] })
  expect(body.gap).toBeUndefined()
})
