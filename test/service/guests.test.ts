import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { getSmallLinux } from '../support/guests/linux.ts'
import { waitForSerial } from '../support/guests/serial-shell.ts'
import { readSerialLog } from '../support/guests/serial.ts'
import { openEchoTunnel } from '../support/commands/echo-tunnel.ts'
import { withoutGuests } from '../support/network/requirements.ts'
import { newState, rootPassword, runProgram, startService } from '../support/service.ts'
import { signInElsewhere } from '../support/commands/sign-in-elsewhere.ts'
import { until } from '../support/waiting.ts'

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
    const tunnel = (port: string) => runProgram(['tunnel', 'linux', port], {}, state.path)
    expect(await tunnel('7')).toMatchObject({ code: 3, stderr: expect.stringContaining('linux is stopped') })
    await ask('PUT', '/machines/linux/start')
    await waitForSerial({ home, name: 'linux' }, /GUEST:IP eth0/)

    const local = openEchoTunnel('linux', state.path)
    await local.echo('hello')
    await local.echo('x'.repeat(3_000_000))
    local.closeInput()
    expect(await local.end()).toEqual({ code: 0, stderr: '' })
    expect(await tunnel('9')).toMatchObject({ code: 1, stderr: expect.stringContaining('port 9') })
    expect((await tunnel('70000')).code).toBe(2)

    const key = { name: 'ssh', claims: ['LIST_VM', 'EXECUTE_COMMAND_VM'] }
    const { encoded, id: keyId } = await ask('POST', '/auth/api_keys', key)
    using elsewhere = await signInElsewhere(service.url, { apiKey: encoded })
    const remote = openEchoTunnel('linux', elsewhere.path, elsewhere.env)
    await remote.echo('from elsewhere')
    await ask('PUT', `/auth/api_keys/${keyId}/revoke`)
    expect(await remote.end()).toMatchObject({ code: 1, stderr: expect.stringContaining('API key') })
    using signedIn = await signInElsewhere(service.url, { password: rootPassword })
    const password = openEchoTunnel('linux', signedIn.path, signedIn.env)
    await password.echo('with a password')

    const booted = (await readSerialLog({ home })).length
    await service.kill()
    process.kill(Number(readFileSync(join(home, 'qemu.pid'), 'utf8')), 'SIGKILL')
    expect((await password.end()).code).toBe(1)
    service = await startService({ state: state.path, driver: 'qemu', env })
    token = await service.signIn()
    await until(async () => expect((await readSerialLog({ home })).slice(booted)).toMatch(/GUEST:IP eth0/))
    expect(await ask('GET', '/machines/linux/status')).toMatchObject({ status: 'running' })
    const last = openEchoTunnel('linux', state.path)
    await last.echo('again')
    // The end of the service waits for no tunnel.
    expect(await service.stop()).toBe(0)
    expect(await last.end()).toMatchObject({ code: 1, stderr: expect.stringContaining('shutting down') })
  })
})
