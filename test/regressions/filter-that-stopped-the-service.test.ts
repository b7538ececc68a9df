import { expect } from 'vitest'
import { parseFilter } from '#lib/http/filter.ts'
import { test } from '../support/harness.ts'

test('a short pattern that repeats repeats is refused, not run', async () => {
  await expect(parseFilter(`value=${'(a?){1000}'.repeat(40)}`)).rejects.toMatchObject({ fault: 'invalid' })
})

test('somebody without any claim cannot keep the service busy with a filter of their own settings', async ({
  call,
}) => {
  const as: readonly string[] = []
  const path = '/api/v1/user/configs'
  for (let at = 0; at < 3; at += 1) {
    const made = await call('POST', path, { as, body: { slug: `long-${at}`, value: 'ab'.repeat(30_000) } })
    expect(made.status).toBe(201)
  }
  const began = performance.now()
  const refused = await call('GET', path, { as, headers: { 'x-filter': 'value=(a*b*){120}$' } })
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('too much text') } })
  // Unbounded it takes seconds for each of five hundred settings.
  expect(performance.now() - began).toBeLessThan(3_000)
  const found = await call('GET', path, { as, headers: { 'x-filter': 'value=ba' } })
  expect(found.body).toHaveLength(3)
})
