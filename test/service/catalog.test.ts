import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/qemu.ts'
import { newState } from '../support/service.ts'
import { connectionTo, createCounter, type Driver, startHost } from '../support/transfers.ts'

describe.each(['embedded', 'qemu'] as const)('a machine on %s', (driver: Driver) => {
  const left = driver === 'qemu' && withoutQemu
  describe.skipIf(left)(left ? 'QEMU is not installed' : 'goes from one host to another', () => {
    test('through the local storage of the first, whose catalog hands out the bytes', async () => {
      using first = newState()
      using second = newState()
      // The demo machine of the embedded driver is the one that counts.
      const from = await startHost(first.path, driver, { VMHOST_DEMO: driver === 'embedded' ? 'on' : 'off' })
      const to = await startHost(second.path, driver)
      const name = driver === 'embedded' ? 'demo' : 'counter'
      await createCounter(from, first.path, driver, name)
      expect(await from.boot(name)).toBe(1)
      await from.stop(name)
      expect(await from.boot(name)).toBe(1 + 1)
      await from.stop(name)

      const pushed = await from.call('POST', '/catalog/push', {
        catalog_id: 'counter',
        version: '1.0',
        connection: 'provider=local-storage',
        uuid: name,
        compress_pack: true,
      })
      expect(pushed.status, pushed.body.message).toBe(200)
      const [manifest] = pushed.body
      if (driver === 'qemu') expect(manifest.pack_size).toBeLessThan(8 * 2 ** 20)

      const pulled = await to.call('PUT', '/catalog/pull', {
        catalog_id: 'counter',
        machine_name: 'pulled',
        connection: connectionTo(from),
      })
      expect(pulled.status, pulled.body.message).toBe(200)
      expect(pulled.body).toMatchObject({ version: '1.0', machine_name: 'pulled', manifest: { name: manifest.name } })
      expect(await to.boot('pulled')).toBe(3)
      expect(await from.boot(name)).toBe(3)
      expect((await from.call('GET', '/catalog/counter')).body[0].download_count).toBe(1)
      for (const { path } of [first, second]) expect(readdirSync(join(path, 'transfers'))).toEqual([])
      await to.service.stop()
      await from.service.stop()
    }, 60_000)
  })
})
