import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newState, rootPassword } from '../support/service.ts'
import { declareTests, rounds } from '../support/rounds.ts'
import { type Kind, sampledKinds, storageKinds } from '../support/storages.ts'
import { connectionTo, createCounter, type Driver, type Host, startHost } from '../support/transfers.ts'

/** Two hosts, and on the first a stopped machine that has booted twice. */
const twoHosts = async (driver: Driver) => {
  const stack = new DisposableStack()
  const [first, second] = [stack.use(newState()), stack.use(newState())]
  // The demo machine of the embedded driver is the one that counts.
  const from = await startHost(first.path, driver, { VMHOST_DEMO: driver === 'embedded' ? 'on' : 'off' })
  const to = await startHost(second.path, driver, { VMHOST_OUTGOING_ADDRESSES: '127.0.0.1' })
  const name = driver === 'embedded' ? 'demo' : 'counter'
  await createCounter(from, first.path, driver, name)
  for (const boot of [1, 2]) {
    expect(await from.boot(name)).toBe(boot)
    await from.stop(name)
  }
  return {
    from,
    to,
    name,
    states: [first.path, second.path],
    [Symbol.dispose]: () => stack.dispose(),
  }
}

const push = async ({ call }: Host, connection: string, uuid: string, more = {}) => {
  const { status, body } = await call('POST', '/catalog/push', {
    catalog_id: 'counter',
    version: '1.0',
    connection,
    uuid,
    compress_pack: true,
    ...more,
  })
  expect(status, body.message).toBe(200)
  return body[0]
}
const pull = async ({ call }: Host, connection: string, machine_name: string) => {
  const { status, body } = await call('PUT', '/catalog/pull', { catalog_id: 'counter', machine_name, connection })
  expect(status, body.message).toBe(200)
  return body
}

describe.each(['embedded', 'qemu'] as const)('a machine on %s', (driver: Driver) => {
  const left = driver === 'qemu' && withoutQemu
  describe.skipIf(left)(
    left ? 'QEMU is not installed' : 'is transferred from one host to another with its disk',
    () => {
      test('over the local storage of the first host, whose catalog serves the pack', async () => {
        using hosts = await twoHosts(driver)
        const { from, to, name } = hosts
        const manifest = await push(from, 'provider=local-storage', name)
        // Of a sparse disk of 1 GiB.
        if (driver === 'qemu') expect(manifest.pack_size).toBeLessThan(8 * 2 ** 20)
        expect(await pull(to, connectionTo(from), 'pulled')).toMatchObject({
          version: '1.0',
          machine_name: 'pulled',
          manifest: { name: manifest.name },
        })
        expect(await to.boot('pulled')).toBe(3)
        expect(await from.boot(name)).toBe(3)
        expect((await from.call('GET', '/catalog/counter')).body[0].download_count).toBe(1)
        for (const path of hosts.states) expect(readdirSync(join(path, 'transfers'))).toEqual([])
        await to.service.stop()
        await from.service.stop()
      })

      // The catalog does not know what a machine runs on.
      declareTests(driver === 'embedded', () => {
        test('over a catalog manager, within the rights of its user', async () => {
          using hosts = await twoHosts(driver)
          const { from, to, name } = hosts
          const manifest = await push(from, 'provider=local-storage', name)
          await push(from, 'provider=local-storage', name, { version: '2.0', required_claims: ['LAB'] })
          const made = await to.call('POST', '/catalog-managers', {
            name: 'first',
            url: from.service.url,
            username: 'root',
            password: rootPassword,
            global: true,
          })
          expect(made.status, made.body.message).toBe(201)
          const user = { username: 'clerk', name: 'Clerk', email: 'clerk@example.test', password: rootPassword }
          expect((await to.call('POST', '/auth/users', user)).status).toBe(201)
          const { body: signedIn } = await to.service.call('POST', '/api/v1/auth/token', {
            body: { username: 'clerk', password: rootPassword },
          })
          const asClerk = (version: string, more = {}) =>
            to.service.call('PUT', `/api/v1/catalog-managers/${made.body.id}/catalog/pull`, {
              token: signedIn.token,
              body: { catalog_id: 'counter', version, machine_name: 'pulled', ...more },
            })
          const read = (path: string, range: string) =>
            fetch(`${to.service.url}/api/v1/catalog-managers/${made.body.id}/catalog${path}`, {
              headers: { authorization: `Bearer ${signedIn.token}`, range },
            })
          const [first, last] = [await read('?limit=1', ''), await read('?limit=2', '')]
          // The newest is not to be seen, and what is older comes after it.
          expect([await first.json(), last.headers.get('link')]).toEqual([[], null])
          const [, cursor] = /cursor=([^&>]+)>; rel="next"$/.exec(first.headers.get('link') ?? '') ?? []
          expect(await (await read(`?limit=1&cursor=${cursor}`, '')).json()).toMatchObject([{ version: '1.0' }])
          const bytesOf = (version: string) => `/counter/${version}/${manifest.architecture}/download?content=pack`
          const [part, hidden] = [await read(bytesOf('1.0'), 'bytes=0-1'), await read(bytesOf('2.0'), 'bytes=0-1')]
          expect([part.status, part.headers.get('content-range'), hidden.status]).toEqual([
            206,
            `bytes 0-1/${manifest.pack_size}`,
            404,
          ])
          expect(Buffer.from(await part.arrayBuffer()).toString('hex')).toBe('1f8b')
          expect((await asClerk('2.0')).status).toBe(404)
          expect((await asClerk('1.0', { connection: 'host=a.example' })).status).toBe(400)
          const { status, body } = await asClerk('1.0')
          expect(status, body.message).toBe(200)
          expect(await to.boot('pulled')).toBe(3)
          // What was not to be seen was not counted.
          expect((await from.call('GET', '/catalog/counter/2.0')).body[0].download_count).toBe(0)
          await to.service.stop()
          await from.service.stop()
        })
      })

      for (const { name: kind, left: why, open } of driver === 'embedded'
        ? sampledKinds
        : rounds<readonly Kind[]>([], storageKinds))
        test.skipIf(why !== '')(why === '' ? `over ${kind}` : `over ${kind} (${why})`, async () => {
          using hosts = await twoHosts(driver)
          const { from, to, name } = hosts
          await using place = await open()
          await push(from, place.connection, name)
          // Once from the storage itself, with what opens that, and once by the catalog, which keeps that to itself.
          await pull(to, `${connectionTo(from)};${place.connection}`, 'direct')
          await to.call('DELETE', '/catalog/cache')
          await pull(to, connectionTo(from), 'handed')
          expect(await to.boot('direct')).toBe(3)
          expect(await to.boot('handed')).toBe(3)
          expect((await from.call('DELETE', '/catalog/counter')).status).toBe(202)
          for (const path of hosts.states) expect(readdirSync(join(path, 'transfers'))).toEqual([])
          await to.service.stop()
          await from.service.stop()
        })
    },
  )
})
