import { expect } from 'vitest'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { test } from '../../support/harness.ts'

test('a short pattern with nested repeats is refused and not run', async () => {
  await expect(parseFilter(`value=${'(a?){1000}'.repeat(40)}`)).rejects.toMatchObject({ fault: 'invalid' })
})

test('a user without claims cannot keep the service busy with a filter on their own settings', async ({ call }) => {
  const as: readonly string[] = []
  const path = '/api/v1/user/configs'
  for (let at = 0; at < 3; at += 1) {
    const made = await call('POST', path, { as, body: { slug: `long-${at}`, value: 'ab'.repeat(30_000) } })
    expect(made.status).toBe(201)
  }
  const refused = await call('GET', path, { as, headers: { 'x-filter': 'value=(a*b*){120}$' } })
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('too much text') } })
  const found = await call('GET', path, { as, headers: { 'x-filter': 'value=ba' } })
  expect(found.body).toHaveLength(3)
})

test('a filter takes half a second at most: its limit is counted for the slowest patterns', async () => {
  const matches = await parseFilter('value=(?:[ab]?){470}[x-z]')
  const filter = (length: number) => () => matches({ value: 'a'.repeat(length) })
  expect(filter(5_000)()).toBe(false)
  expect(filter(15_000)).toThrow('too much text')
})
