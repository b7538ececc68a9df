import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isFault } from '#lib/errors.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { test as served } from '../../support/harness.ts'

const item = {
  Name: 'my-web-2',
  ID: 'a1',
  count: 12,
  on: true,
  list: ['a', 'b'],
  Hardware: { cpu: { cpus: 4 }, 'Support USB 3.0': 'on' },
}
const matches = async (header: string): Promise<boolean> => (await parseFilter(header))(item)

describe('X-Filter', () => {
  test.for([
    ['Name=web', true],
    ['name=^web', false],
    ['name=WEB', false],
    ['NAME=WEB,i', true],
    ['name=^my-.*\\d$', true],
    ['name=\\S+,i', true],
    ['count=^12$', true],
    ['on=true', true],
    ['list=a b', true],
    ['hardware.cpu.cpus=4', true],
    ['hardware.support usb 3.0=on', true],
    ['hardware=4', false],
    ['hardware.cpu=4', false],
    ['list.0=a', false],
    ['nothing=.', false],
    ['toString=.', false],
    ['__proto__=.', false],
  ] as const)('%s matches: %s', async ([header, expected]) => {
    expect(await matches(header)).toBe(expected)
  })

  test.for(['Name', '=web', 'Name=', 'a=b=c', 'Name=(', 'Name=a,x', 'Name=a,i,i', `Name=${'a'.repeat(600)}`])(
    '%s is refused',
    async header => {
      await expect(parseFilter(header)).rejects.toMatchObject({ fault: 'invalid' })
    },
  )

  test('a pattern that backtracking engines run forever on is matched in linear time', async () => {
    const keep = await parseFilter('Name=(a+)+$')
    expect(keep({ Name: `${'a'.repeat(50_000)}!` })).toBe(false)
  })

  test('a random header gives a filter or the fault invalid, and no other error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), async (property, pattern) => {
        const keep = await parseFilter(`${property}=${pattern}`).catch((error: unknown) => {
          if (!isFault(error, 'invalid')) throw error
        })
        if (keep) expect(keep(item)).toBeTypeOf('boolean')
      }),
      { numRuns: 500 },
    )
  })

  served('narrows the list of machines, and says no to what it cannot read', async ({ call }) => {
    for (const name of ['web-1', 'web-2', 'db']) await call('POST', '/api/v1/machines', { body: { name, memory: 16 } })
    const listed = async (filter: string) => call('GET', '/api/v1/machines', { headers: { 'x-filter': filter } })
    const { status, body } = await listed('name=^WEB,i')
    expect(status).toBe(200)
    expect(body.map((one: { Name: string }) => one.Name)).toEqual(['web-1', 'web-2'])
    expect((await listed('')).body).toHaveLength(3)
    expect((await listed('Hardware.memory.size=16Mb')).body).toHaveLength(3)
    expect(await listed('name')).toMatchObject({ status: 400, body: { message: expect.stringContaining('X-Filter') } })
  })

  served('says no to a property that nothing of the list can have', async ({ call }) => {
    const status = async (path: string, filter: string) =>
      (await call('GET', `/api/v1${path}`, { headers: { 'x-filter': filter } })).status
    const told = await call('GET', '/api/v1/machines', { headers: { 'x-filter': 'Nam=^web' } })
    expect(told).toMatchObject({ status: 400, body: { message: expect.stringContaining('have no property Nam') } })
    for (const filter of ['hardware.cpu.cores=4', 'ID.x=1', 'Name.length=1', '__proto__=.'])
      expect(await status('/machines', filter), filter).toBe(400)
    for (const filter of ['ID=x', 'HARDWARE.CPU.cpus=1', 'optimization.hypervisor type=kvm', 'hardware.hdd0.image=x'])
      expect(await status('/machines', filter), filter).toBe(200)
    // Optional members, and members of maps, which may have any name.
    for (const [path, filter] of [
      ['/jobs', 'error=x'],
      ['/jobs', 'about.catalog_id=x'],
      ['/catalog', 'provider.meta.bucket=x'],
      ['/catalog', 'tags=x'],
      ['/auth/users', 'locked_until=2'],
      ['/catalog/cache', 'cache_size=1'],
    ] as const)
      expect(await status(path, filter), filter).toBe(200)
  })
})
