import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { getSmallLinux } from '../support/guests/linux.ts'
import { waitForSerial } from '../support/guests/serial-shell.ts'
import { readSerialLog } from '../support/guests/serial.ts'
import { withoutGuests } from '../support/network/requirements.ts'
import { newState, rootPassword, runProgram, startProgram, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

/** `vmhost tunnel` to a port of the machine `linux`. */
const openTunnel = (state: string, port: number, env: Readonly<Record<string, string>> = {}) => {
  const child = startProgram(['tunnel', 'linux', String(port)], env, state)
  let received = ''
  child.stdout.on('data', (bytes: Buffer) => void (received += bytes.toString('latin1')))
  const errors = text(child.stderr)
  const exited = new Promise<number | null>(resolve => child.once('exit', resolve))
  return {
    /** Sends a text to the guest's echo and waits for it. */
    async echo(sent: string) {
      const before = received.length
      child.stdin.write(sent)
      await until(() => expect(received.length).toBe(before + sent.length))
      expect(received.slice(before) === sent).toBe(true)
    },
    closeInput: () => child.stdin.end(),
    end: async () => ({ code: await exited, stderr: await errors }),
  }
}

describe.skipIf(withoutGuests !== undefined)(withoutGuests ?? 'a small Linux of a service', () => {
  test('is reached by vmhost tunnel, and runs again after a kill of the service and of its QEMU', async () => {
    using state = newState()
    const { kernel, initrd, cmdline } = getSmallLinux()
    const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_ALLOWED_FOLDERS: dirname(kernel), VMHOST_DEMO: 'off' }
    let service = await startService({ state: state.path, driver: 'qemu', env })
    let token = await service.signIn()
    const ask = async (method: string, path: string, body?: object) =>
      (await service.call(method, `/api/v1${path}`, { token, body })).body
    const machine = { name: 'linux', memory: 128, kernel, initrd, cmdline, autostart: { enabled: true } }
    const { id } = await ask('POST', '/machines', machine)
    const [{ Home: home }] = await ask('GET', `/machines/${id}`)
    const tunnel = (port: string, connection: Readonly<Record<string, string>> = {}) =>
      runProgram(['tunnel', 'linux', port], connection, state.path)
    expect(await tunnel('7')).toMatchObject({ code: 3, stderr: expect.stringContaining('linux is stopped') })
    await ask('PUT', '/machines/linux/start')
    await waitForSerial({ home, name: 'linux' }, /GUEST:IP eth0/)

    const local = openTunnel(state.path, 7)
    await local.echo('hello')
    await local.echo('x'.repeat(3_000_000))
    local.closeInput()
    expect(await local.end()).toEqual({ code: 0, stderr: '' })
    expect(await tunnel('9')).toMatchObject({ code: 1, stderr: expect.stringContaining('port 9') })
    expect((await tunnel('70000')).code).toBe(2)

    const key = { name: 'ssh', claims: ['LIST_VM', 'EXECUTE_COMMAND_VM'] }
    const { encoded, id: keyId } = await ask('POST', '/auth/api_keys', key)
    const reach = (credentials: string) => ({
      VMHOST_CONNECTION: `host=${credentials}@${service.url}`,
      NODE_EXTRA_CA_CERTS: join(state.path, 'tls/cert.pem'),
    })
    const remote = openTunnel(state.path, 7, reach(encoded))
    await remote.echo('from elsewhere')
    await ask('PUT', `/auth/api_keys/${keyId}/revoke`)
    expect(await remote.end()).toMatchObject({ code: 1, stderr: expect.stringContaining('API key') })
    const password = openTunnel(state.path, 7, reach(`root:${rootPassword}`))
    await password.echo('with a password')
    const wrong = await tunnel('7', reach('root:Wrong-Horse-9-Battery'))
    expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining('Invalid User or Password') })
    expect(wrong.stderr).not.toContain('Wrong-Horse')
    const untrusted = await tunnel('7', { ...reach(encoded), NODE_EXTRA_CA_CERTS: '' })
    expect(untrusted.stderr).toContain('NODE_EXTRA_CA_CERTS')

    const booted = (await readSerialLog({ home })).length
    await service.kill()
    process.kill(Number(readFileSync(join(home, 'qemu.pid'), 'utf8')), 'SIGKILL')
    expect((await password.end()).code).toBe(1)
    service = await startService({ state: state.path, driver: 'qemu', env })
    token = await service.signIn()
    await until(async () => expect((await readSerialLog({ home })).slice(booted)).toMatch(/GUEST:IP eth0/))
    expect(await ask('GET', '/machines/linux/status')).toMatchObject({ status: 'running' })
    const last = openTunnel(state.path, 7)
    await last.echo('again')
    // The end of the service waits for no tunnel.
    expect(await service.stop()).toBe(0)
    expect(await last.end()).toMatchObject({ code: 1, stderr: expect.stringContaining('shutting down') })
  })
})
