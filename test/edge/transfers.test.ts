import { join } from 'node:path'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSignAssertion } from '#lib/auth/assertions/sign-assertion.ts'
import { identityKeys } from '../support/identity.ts'
import { outlastIdle } from '../support/silence.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { type S3Server, startS3Server, withoutS3 } from '../support/servers/s3-server.ts'
import { startStallingRelay } from '../support/servers/stalling-relay.ts'
import { until } from '../support/waiting.ts'
import { type Answer, type Edge, startEdge } from '../support/workerd/edge.ts'

const issuer = 'https://control.example.test'

describe.skipIf(withoutS3)(
  withoutS3 ? 'transfers at the edge: left out, neither versitygw nor Go is installed' : 'transfers at the edge',
  () => {
    const open = new AsyncDisposableStack()
    const states = { a: newState(), b: newState() }
    const services: Record<string, Service> = {}
    const ids: Record<string, string> = {}
    let edge: Edge
    let s3: S3Server
    let bucket: string
    let connection: string
    let token: string

    const ask = (method: string, path: string, body?: object, as = token): Promise<Answer> =>
      edge.ask(method, path, { token: as, ...(body && { body }) })
    const done = async (method: string, path: string, body?: object) => {
      const answer = await ask(method, path, body)
      expect(answer.status, `${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300)
      return answer.body
    }
    const listObjects = async (): Promise<readonly string[]> =>
      [...(await (await s3.call('GET', `${bucket}?list-type=2`)).text()).matchAll(/<Key>([^<]+)<\/Key>/g)].map(
        ([, key]) => key!,
      )
    const push = (version: string, more: object = {}) => ({
      catalog_id: 'web',
      version,
      uuid: 'on-a',
      connection,
      ...more,
    })
    const pull = (version: string, name: string) => ({ catalog_id: 'web', version, machine_name: name })
    const startHost = async (name: 'a' | 'b', key: string): Promise<Service> =>
      startService({
        state: states[name].path,
        driver: 'embedded',
        env: {
          VMHOST_ROOT_PASSWORD: rootPassword,
          VMHOST_LISTEN: 'http://127.0.0.1:0',
          VMHOST_CONTROL_URL: edge.url,
          VMHOST_CONTROL_KEY: key,
          VMHOST_TRUSTED_ISSUERS: JSON.stringify([
            { issuer, jwks: `${edge.url}/.well-known/jwks.json`, audience: ids[name] },
          ]),
        },
      })

    beforeAll(async () => {
      s3 = open.use(await startS3Server())
      bucket = await s3.newBucket()
      connection = `provider=minio;bucket=${bucket};endpoint=${s3.endpoint};access_key=${s3.accessKey};secret_key=${s3.secretKey}`
      edge = open.use(
        await startEdge({
          network: ['public', 'private', 'local'],
          variables: {
            VMHOST_ROOT_PASSWORD: rootPassword,
            VMHOST_ISSUER: issuer,
            VMHOST_OUTGOING_ADDRESSES: '127.0.0.1',
          },
        }),
      )
      token = await edge.signIn({ username: 'root', password: rootPassword })
      for (const name of ['a', 'b'] as const) {
        open.use(states[name])
        // The port is known when the host serves; its address is changed then.
        const { id, key } = await done('POST', '/v1/hosts', { name, url: 'http://127.0.0.1:1' })
        ids[name] = id
        services[name] = await startHost(name, key)
        open.defer(() => services[name]!.kill())
        await done('PUT', `/v1/hosts/${name}`, { url: services[name].url })
      }
      await until(async () =>
        expect((await done('GET', '/v1/hosts')).map(({ state }: { state: string }) => state)).toEqual([
          'reachable',
          'reachable',
        ]),
      )
      const kernel = join(states.a.path, 'attach/demo-kernel.bin')
      const machine = { name: 'on-a', memory: 16, disks: [{ size: 1 }], kernel }
      await done('POST', '/v1/machines?host=a', machine)
    })
    afterAll(() => open.disposeAsync())

    test('a machine of one host is pushed, and pulled to the other one, where it starts', async () => {
      const [pushed] = await done('POST', '/v1/catalog/push', push('1', { description: 'Web shop' }))
      expect(pushed).toMatchObject({ catalog_id: 'web', type: 'embedded', description: 'Web shop' })
      expect(JSON.stringify(pushed)).not.toContain(s3.secretKey)
      expect(await done('GET', '/v1/catalog/web/1')).toMatchObject([{ id: pushed.id, pack_sha256: pushed.pack_sha256 }])
      expect((await listObjects()).toSorted()).toEqual(
        ['.meta', '.pdpack', '.pdpack.pack.json'].map(suffix => `web/web-x86_64-1${suffix}`),
      )
      // The hosts know nothing of it.
      const own = await services['a']!.call('GET', '/api/v1/catalog', { token: await services['a']!.signIn() })
      expect(own.body).toEqual([])

      const pulled = await done('PUT', '/v1/catalog/pull?host=b', pull('latest', 'web-1'))
      expect(pulled).toMatchObject({ machine_name: 'web-1', manifest: { id: pushed.id, version: '1' } })
      await done('PUT', '/v1/machines/web-1/start')
      expect(await done('GET', '/v1/machines/web-1')).toMatchObject([{ State: 'running', host: 'b' }])
      expect(await done('GET', '/v1/catalog/web/1')).toMatchObject([
        { download_count: 1, last_downloaded_user: 'root' },
      ])
      expect(await done('GET', '/v1/catalog/cache')).toMatchObject([{ catalog_id: 'web', version: '1', host: 'b' }])
    })

    test('a pull takes a host that can run the machine', async () => {
      await done('PUT', '/v1/catalog/pull', pull('1', 'placed'))
      const [{ host }] = await done('GET', '/v1/machines/placed')
      // It has the pack in its cache.
      expect(host).toBe('b')
      const place = { catalog_id: 'mac', version: '1', architecture: 'arm64', connection }
      await s3.call('PUT', `${bucket}/bundles/mac.macvm/config.pvs`, 'config')
      // No host is of this architecture, and none is needed.
      const body = { ...place, machine_remote_path: 'bundles/mac.macvm', size: 10 }
      expect(await done('PUT', '/v1/catalog/import-vm', body)).toMatchObject({ manifest: { type: 'macvm' } })
      const refused = await ask('PUT', '/v1/catalog/pull', {
        catalog_id: 'mac',
        version: '1',
        architecture: 'arm64',
        machine_name: 'mac',
      })
      expect(refused).toMatchObject({ status: 503, body: { message: expect.stringContaining('arm64') } })
    })

    test('a push replaces a manifest, or is refused before anything is uploaded', async () => {
      const before = await listObjects()
      const refused = await ask('POST', '/v1/catalog/push', push('1', { override_existing: false }))
      expect(refused.status).toBe(409)
      expect(await listObjects()).toEqual(before)
      const [replaced] = await done('POST', '/v1/catalog/push', push('1', { compress: true }))
      expect(replaced).toMatchObject({ description: 'Web shop', is_compressed: true })
      const packs = (await listObjects()).filter(path => path.startsWith('web/web-x86_64-1') && path.endsWith('pdpack'))
      expect(packs).toEqual([`web/${replaced.pack_filename}`])
      await done('PUT', '/v1/catalog/pull?host=b', pull('1', 'replaced'))
    })

    test('who may not push or pull is refused here, and no host hears of it', async () => {
      const user = { username: 'viewer', name: 'Viewer', email: 'viewer@example.test', password: rootPassword }
      await done('POST', '/v1/auth/users', { ...user, roles: [], claims: ['LIST_CATALOG_MANIFEST'] })
      const viewer = await edge.signIn({ username: 'viewer', password: rootPassword })
      expect((await ask('POST', '/v1/catalog/push', push('9'), viewer)).status).toBe(403)
      expect((await ask('PUT', '/v1/catalog/pull', pull('1', 'none'), viewer)).status).toBe(403)
      const hostToken = await services['a']!.signIn()
      const audit = await services['a']!.call('GET', '/api/v1/audit?limit=200', { token: hostToken })
      expect(audit.body.entries.filter(({ username }: { username: string }) => username === 'viewer')).toEqual([])
    })

    test('a host takes an order only from its control, signed with the body', async () => {
      const host = services['b']!
      const [manifest] = await done('GET', '/v1/catalog/web/1')
      const source = { manifest, storage: { type: 'minio', meta: { endpoint: s3.endpoint, bucket } } }
      const body = { ...pull('1', 'forged'), source }
      const send = (bearer: string, sent: object) =>
        host.call('PUT', '/api/v1/catalog/pull', { token: bearer, body: sent })
      // A user of the host, even root.
      const refused = await send(await host.signIn(), body)
      expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('source') } })
      const pushed = { ...push('1', { uuid: 'on-a' }), target: { id: crypto.randomUUID(), hidden: [] } }
      const refusedPush = await host.call('POST', '/api/v1/catalog/push', { token: await host.signIn(), body: pushed })
      expect(refusedPush).toMatchObject({ status: 403, body: { message: expect.stringContaining('target') } })
      // A signature of somebody else.
      const sign = createSignAssertion({ keys: identityKeys, issuer })
      const user = {
        id: crypto.randomUUID(),
        username: 'mallory',
        email: '',
        roles: [],
        claims: new Set(['PULL_CATALOG_MANIFEST']),
        superUser: false,
      }
      expect((await send(await sign(user, ids['b']!, { body: JSON.stringify(body) }), body)).status).toBe(401)
      const unsigned = await new SignJWT({}).setProtectedHeader({ alg: 'HS256' }).sign(new Uint8Array(32))
      expect((await send(unsigned, body)).status).toBe(401)
      const machines = await host.call('GET', '/api/v1/machines', { token: await host.signIn() })
      expect(machines.body.map(({ Name }: { Name: string }) => Name)).not.toContain('forged')
    })

    test('a catalog manager leads to the catalog of another service, and its key stays here', async () => {
      const state = open.use(newState())
      const other = await startService({
        state: state.path,
        driver: 'embedded',
        env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0', VMHOST_DEMO: 'off' },
      })
      open.defer(() => other.kill())
      const otherToken = await other.signIn()
      const { body: key } = await other.call('POST', '/api/v1/auth/api_keys', {
        token: otherToken,
        body: { name: 'edge' },
      })
      const manager = { name: 'other', url: other.url, api_key: key.encoded }
      const { id } = await done('POST', '/v1/catalog-managers', manager)
      const below = `/v1/catalog-managers/${id}/catalog`
      for (const [version, chunked] of [
        ['7', false],
        ['8', true],
      ] as const) {
        await done('POST', `${below}/push`, push(version, { chunked }))
        expect(await done('GET', `${below}/web/${version}`)).toMatchObject([{ version }])
        expect((await ask('GET', `/v1/catalog/web/${version}`)).status).toBe(404)
        await done('PUT', `${below}/pull?host=b`, pull(version, `far-${version}`))
        await done('PUT', `/v1/machines/far-${version}/start`)
        expect(await done('GET', `/v1/machines/far-${version}`)).toMatchObject([{ State: 'running', host: 'b' }])
      }
    })

    test('a cancelled push leaves nothing', async () => {
      const before = await listObjects()
      const job = await done('POST', '/v1/catalog/push/async', push('20'))
      await ask('POST', `/v1/jobs/${job.id}/cancel`)
      await until(async () =>
        expect(['completed', 'failed']).toContain((await done('GET', `/v1/jobs/${job.id}`)).state),
      )
      const { state } = await done('GET', `/v1/jobs/${job.id}`)
      expect(state).toBe('failed')
      expect((await ask('GET', '/v1/catalog/web/20')).status).toBe(404)
      await until(async () => expect(await listObjects()).toEqual(before))
    })

    test('a push goes on while the edge sleeps and after it was killed, and is registered once', async () => {
      const countPushes = async (): Promise<number> => {
        const { body } = await services['a']!.call('GET', '/api/v1/jobs', { token: await services['a']!.signIn() })
        return body.filter(({ job_operation: operation }: { job_operation: string }) => operation === 'push').length
      }
      const before = await countPushes()
      await using relay = await startStallingRelay(s3.endpoint, /^PUT \S+25\.pdpack\.pack\.json/)
      const slow = connection.replace(s3.endpoint, relay.address)
      const job = await done('POST', '/v1/catalog/push/async', push('25', { connection: slow }))
      await relay.stalled
      // workerd evicts an object after ten seconds without a call. The heartbeats of the hosts are calls too.
      await outlastIdle(13_000)
      await edge.restart()
      relay.release()
      await until(async () =>
        expect(await done('GET', `/v1/jobs/${job.id}`)).toMatchObject({ state: 'completed', progress: 100 }),
      )
      expect(await done('GET', '/v1/catalog/web/25')).toMatchObject([{ version: '25' }])
      const { events } = await done('GET', '/v1/events?limit=1000&types=system')
      const added = events.filter(
        ({ message, body }: { message: string; body: { version: string } }) =>
          message === 'CATALOG_MANIFEST_ADDED' && body.version === '25',
      )
      expect(added).toHaveLength(1)
      // The host has done it once, though it was asked again.
      expect(await countPushes()).toBe(before + 1)
    })

    test('a host that is killed in a push ends the job with the reason, and nothing is left of it', async () => {
      // The upload of the sidecar never ends, so that the pack is there already.
      await using relay = await startStallingRelay(s3.endpoint, /^PUT \S+30\.pdpack\.pack\.json/)
      const slow = connection.replace(s3.endpoint, relay.address)
      const before = await listObjects()
      const job = await done('POST', '/v1/catalog/push/async', push('30', { connection: slow }))
      await until(async () => expect(await listObjects()).toContain('web/web-x86_64-30.pdpack'))
      await relay.stalled
      // The job shows how far the host is.
      await until(async () => {
        const running = await done('GET', `/v1/jobs/${job.id}`)
        expect(JSON.stringify(running)).not.toContain(s3.secretKey)
        expect(running.state).toBe('running')
        const completed = running.steps.filter((step: { state: string }) => step.state === 'completed')
        expect(completed.map(({ name }: { name: string }) => name)).toContain('push_upload_pack_stage')
      })
      await services['a']!.kill()
      await until(async () => expect((await done('GET', `/v1/jobs/${job.id}`)).state).toBe('failed'), 200)
      const failed = await done('GET', `/v1/jobs/${job.id}`)
      expect(failed.error).toMatch(/host a unreachable since/)
      expect(failed.error).not.toContain(s3.secretKey)
      expect((await ask('GET', '/v1/catalog/web/30')).status).toBe(404)
      expect(await listObjects()).toEqual(before)
    })
  },
)
