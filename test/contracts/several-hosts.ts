import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ControlClient, openClient } from '../support/control-client.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

/** A program that controls hosts. It can be closed, and started again on its state and port. */
export interface ControlPlace extends AsyncDisposable {
  readonly url: string
  readonly issuer: string
  /** Its public keys, or the address of them. */
  readonly jwks: unknown
  close(): Promise<void>
  start(): Promise<void>
}

/** Asks over the network. */
const openRemoteClient = (url: string): Promise<ControlClient> =>
  openClient({
    fetch: (request: Request) => fetch(request.url.replace(/^https:\/\/[^/]+/, url), request),
  } as Parameters<typeof openClient>[0])

interface Registered {
  readonly id: string
  readonly key: string
}

const startHost = (
  state: string,
  { url, issuer, jwks }: ControlPlace,
  { id, key }: Registered,
  port = 0,
): Promise<Service> =>
  startService({
    state,
    driver: 'embedded',
    env: {
      VMHOST_ROOT_PASSWORD: rootPassword,
      VMHOST_LISTEN: `http://127.0.0.1:${port}`,
      VMHOST_CONTROL_URL: url,
      VMHOST_CONTROL_KEY: key,
      VMHOST_TRUSTED_ISSUERS: JSON.stringify([{ issuer, jwks, audience: id }]),
    },
  })

type Event = { message: string; id: string; body: { host?: string; vm_id?: string; current_state?: string } }

/** Two hosts are used as one, whichever program controls them. `dist` has the hosts. */
export const severalHostsContract = (name: string, openPlace: () => Promise<ControlPlace>): void => {
  describe(`two hosts behind one control: ${name}`, () => {
    let control: ControlPlace
    let client: ControlClient
    const states = { a: newState(), b: newState() }
    const services: Partial<Record<'a' | 'b', Service>> = {}
    beforeEach(async () => {
      control = await openPlace()
      client = await openRemoteClient(control.url)
    })
    afterEach(async () => {
      for (const service of Object.values(services)) await service.kill()
      await control[Symbol.asyncDispose]()
      for (const state of Object.values(states)) state[Symbol.dispose]()
    })

    const read = async (path: string) => {
      const { status, body } = await client.asRoot('GET', path)
      expect(status, JSON.stringify(body)).toBe(200)
      return body
    }
    /** The machines of this test: each host has a demo machine too. */
    const listMachines = async () =>
      (await read('/machines')).filter(({ Name }: { Name: string }) => Name.startsWith('on-'))
    const machineEvents = async (): Promise<readonly Event[]> =>
      (await read('/events?limit=1000&types=pdfm')).events.filter(({ message }: Event) => message.startsWith('VM_'))
    const statesTold = async (id: string): Promise<readonly (string | undefined)[]> =>
      (await machineEvents())
        .filter(({ message, body }) => message === 'VM_STATE_CHANGED' && body.vm_id === id)
        .map(({ body }) => body.current_state)

    test('are used as one: a machine on each, one host killed, the control restarted, and no event missed', async () => {
      const registered: Record<string, Registered> = {}
      for (const name of ['a', 'b'] as const) {
        // The port is known when the host serves; its address is changed then.
        const { body } = await client.asRoot('POST', '/hosts', { name, url: 'http://127.0.0.1:1' })
        registered[name] = body
        services[name] = await startHost(states[name].path, control, body)
        expect((await client.asRoot('PUT', `/hosts/${name}`, { url: services[name].url })).status).toBe(200)
      }
      await until(async () =>
        expect((await read('/hosts')).map(({ state }: { state: string }) => state)).toEqual(['reachable', 'reachable']),
      )

      // Somebody who is no user of the hosts.
      const claims = ['LIST_VM', 'CREATE_VM', 'UPDATE_VM_STATES']
      const token = await client.signInWith('alice', claims)
      const made: Record<string, string> = {}
      for (const name of ['a', 'b'] as const) {
        const body = { name: `on-${name}`, memory: 16, kernel: join(states[name].path, 'attach/demo-kernel.bin') }
        const answer = await client.ask('POST', `/machines?host=${name}`, { token, body })
        expect(answer.status, JSON.stringify(answer.body)).toBe(201)
        made[name] = answer.body.id
        const started = await client.ask('PUT', `/machines/on-${name}/start`, { token })
        expect(started.status, JSON.stringify(started.body)).toBe(200)
      }
      const list = await listMachines()
      expect(list).toMatchObject([
        { Name: 'on-a', host: 'a', State: 'running' },
        { Name: 'on-b', host: 'b', State: 'running' },
      ])
      await until(async () => {
        for (const name of ['a', 'b']) expect(await statesTold(made[name]!)).toEqual(['starting', 'running'])
      })
      const hostToken = await services.a!.signIn()
      const audit = await services.a!.call('GET', '/api/v1/audit?operation=machines/start', { token: hostToken })
      expect(audit.body.entries).toMatchObject([{ username: 'alice', issuer: control.issuer }])
      expect((await services.a!.call('GET', '/api/v1/hosts', { token: hostToken })).status).toBe(404)

      // One host is killed. The other one answers, and the dead one is named.
      const port = Number(new URL(services.b!.url).port)
      await services.b!.kill()
      expect(await listMachines()).toMatchObject([
        { Name: 'on-a', State: 'running' },
        { Name: 'on-b', host_state: 'unreachable', problem: 'host b does not answer' },
      ])
      const stopped = await client.ask('PUT', '/machines/on-a/stop?force=true', { token })
      expect(stopped.status, JSON.stringify(stopped.body)).toBe(200)
      expect(await client.ask('PUT', '/machines/on-b/stop?force=true', { token })).toMatchObject({
        status: 503,
        body: { message: expect.stringContaining('host b does not answer') },
      })

      // The control is away while both hosts go on: the one does something, the other one comes back.
      await control.close()
      services.b = await startHost(states.b.path, control, registered['b']!, port)
      const direct = await services.a!.call('PUT', '/api/v1/machines/on-a/start', { token: hostToken })
      expect(direct.status).toBe(200)
      await control.start()
      client = await openRemoteClient(control.url)

      // What hosts have told before is there, and what happened meanwhile comes, each once.
      await until(async () => {
        expect((await statesTold(made['a']!)).slice(-2)).toEqual(['starting', 'running'])
        expect(await listMachines()).toMatchObject([{ State: 'running' }, { Name: 'on-b', host: 'b' }])
        expect((await listMachines())[1].problem).not.toBe('host b does not answer')
      })
      for (const name of ['a', 'b'] as const) {
        const service = services[name]!
        const own = await service.call('GET', '/api/v1/events?limit=1000&types=pdfm', { token: await service.signIn() })
        // The first heartbeat came before the machine was made, and the control knows the events since then.
        const first = own.body.events.findIndex(({ body }: Event) => body.vm_id === made[name])
        const expected: readonly string[] = own.body.events.slice(first).map(({ id }: Event) => id)
        await until(async () => {
          const told = (await machineEvents()).filter(({ body }) => body.host === name).map(({ id }) => id)
          expect(told.slice(told.indexOf(expected[0]!))).toEqual(expected)
        })
      }
    })
  })
}
