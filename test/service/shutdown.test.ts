import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

const env = { VMHOST_ROOT_PASSWORD: rootPassword }

/** What an open of this file waits for, for ever, in the kernel: nobody is at the other end. */
const makeHungFile = (path: string): void => void execFileSync('mkfifo', [path])

/** Sends a request of which nobody waits for the answer; gives it all the same. */
const send = (service: Service, token: string, method: string, path: string, body?: unknown) => {
  const answer = service.call(method, `/api/v1${path}`, { token, body })
  answer.catch(() => {})
  return answer
}

/** Takes connections and never says a word. */
const openSilentServer = async () => {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.resume()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    isCalled: () => sockets.size > 0,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

const pushOf = (port: number) => ({
  catalog_id: 'demo',
  version: '1',
  uuid: 'demo',
  connection: `provider=minio;endpoint=http://127.0.0.1:${port};bucket=packs;access_key=some;secret_key=thing`,
})

/** The limit of the test is the proof: without an end of its own the service would stay for ever. */
describe('the shutdown takes limited time', () => {
  test('while every thread for the file system hangs, which the health check reports', async () => {
    using state = newState()
    mkdirSync(join(state.path, 'ssh'), { recursive: true })
    makeHungFile(join(state.path, 'ssh/known_hosts'))
    const service = await startService({ state: state.path, env })
    const token = await service.signIn()
    const command = { host: '127.0.0.1', port: 1, username: 'me', password: 'secret', command: 'true' }
    const hang = (count: number) =>
      Array.from({ length: count }, () => send(service, token, 'POST', '/ssh/execute', command))

    // As many as would take the four threads that Node has by itself.
    void hang(8)
    await until(async () => expect(service.threadsInPipe()).toBe(8))
    expect((await service.call('GET', '/api/v1/health/system', { token })).body).toMatchObject({ healthy: true })

    void hang(40)
    await until(async () =>
      expect((await service.call('GET', '/api/v1/health/system', { token })).body).toMatchObject({
        healthy: false,
        error_message: 'Not healthy: state_folder',
      }),
    )
    expect(await service.stop()).toBe(0)
  })

  test('while a storage does not reply; the next start continues the push, which can be cancelled', async () => {
    using state = newState()
    using server = await openSilentServer()
    let service = await startService({ state: state.path, env })
    let token = await service.signIn()
    const push = send(service, token, 'POST', '/catalog/push', pushOf(server.port))
    await until(() => expect(server.isCalled()).toBe(true))
    const [job] = (await service.call('GET', '/api/v1/jobs', { token })).body
    const ended = service.stop()
    expect(await push).toMatchObject({
      status: 503,
      body: { message: expect.stringContaining(`as the job ${job.id}`) },
    })
    expect(await ended).toBe(0)

    service = await startService({ state: state.path, env })
    token = await service.signIn()
    const show = async () => (await service.call('GET', `/api/v1/jobs/${job.id}`, { token })).body
    expect(await show()).toMatchObject({ state: 'running' })
    await service.call('POST', `/api/v1/jobs/${job.id}/cancel`, { token })
    await until(async () => expect(await show()).toMatchObject({ state: 'failed', code: 409 }))
    const { body } = await service.call('PUT', '/api/v1/machines/demo/start', { token })
    expect(body).toMatchObject({ status: 'Success' })
    expect(await service.stop()).toBe(0)
  })

  test('while a machine cannot be saved; the next start reports it and resumes the others', async () => {
    using state = newState()
    let service = await startService({ state: state.path, env })
    let token = await service.signIn()
    const act = async (path: string, body?: unknown) =>
      expect((await service.call('PUT', `/api/v1/machines/${path}`, { token, body })).status).toBe(200)
    const show = async (name: string) => (await service.call('GET', `/api/v1/machines/${name}`, { token })).body[0]
    await act('demo/clone', { clone_name: 'twin' })
    await act('demo/start')
    await act('twin/start')
    makeHungFile(join((await show('demo')).Home, 'state.bin.tmp'))
    expect(await service.stop()).toBe(0)
    expect(service.log()).toContain('demo could not be suspended and is cut off: not saved in time')

    service = await startService({ state: state.path, env })
    token = await service.signIn()
    const statusOf = async (name: string) =>
      (await service.call('GET', `/api/v1/machines/${name}/status`, { token })).body
    expect(await statusOf('demo')).toMatchObject({ status: 'stopped', problem: 'crashed: not saved in time' })
    expect(await statusOf('twin')).toMatchObject({ status: 'running' })
    expect(await service.stop()).toBe(0)
  })

  test('while the service starts', async () => {
    using state = newState()
    await (await startService({ state: state.path, env })).stop()
    // The file is read by the start, before anything is served.
    execFileSync('rm', [join(state.path, 'keys/api-keys.pepper')])
    makeHungFile(join(state.path, 'keys/api-keys.pepper'))
    const service = await startService({ state: state.path, env, ready: 'at once' })
    await until(() => expect(service.threadsInPipe()).toBe(1))
    expect(await service.stop()).toBe(1)
    expect(service.log()).toContain('did not end within 19 seconds')
  })

  test.skipIf(withoutQemu)('while a QEMU does not reply; the log names it, and it continues', async () => {
    using state = newState()
    const service = await startService({ state: state.path, driver: 'qemu', env })
    const token = await service.signIn()
    await service.call('PUT', '/api/v1/machines/demo/start', { token })
    const [{ Home: home }] = (await service.call('GET', '/api/v1/machines/demo', { token })).body
    const pid = Number(readFileSync(join(home, 'qemu.pid'), 'utf8'))
    process.kill(pid, 'SIGSTOP')
    void send(service, token, 'PUT', '/machines/demo/pause')
    await until(async () =>
      expect((await service.call('GET', '/api/v1/machines/demo/status', { token })).body).toMatchObject({
        status: 'pausing',
      }),
    )
    expect(await service.stop()).toBe(1)
    expect(service.log()).toContain('demo is pausing')
    process.kill(pid, 'SIGCONT')
    const again = await startService({ state: state.path, driver: 'qemu', env })
    expect((await again.call('GET', '/api/v1/machines/demo/status', { token })).body.status).toMatch(/running|paused/)
    expect(await again.stop()).toBe(0)
  })

  test('and ends at once at a second signal', async () => {
    using state = newState()
    let service = await startService({ state: state.path, env })
    const token = await service.signIn()
    await service.call('PUT', '/api/v1/machines/demo/start', { token })
    const [{ Home: home }] = (await service.call('GET', '/api/v1/machines/demo', { token })).body
    makeHungFile(join(home, 'state.bin.tmp'))
    const first = service.stop()
    // It takes no requests any more, so the end has begun.
    await until(() => expect(service.call('GET', '/api/health/probe')).rejects.toThrow(/./))
    void service.stop()
    // A process that a signal ended has no code.
    expect(await first).toBe(null)
    service = await startService({ state: state.path, env })
    expect(await service.stop()).toBe(0)
  })
})
