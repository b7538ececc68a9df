import { createHash, randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { getEmulatedLinux, withoutEmulatedLinux } from '../support/guests/emulated-linux.ts'
import { decodePng } from '../support/guests/png.ts'
import { readScreenText } from '../support/guests/screen-text.ts'
import { waitForSerial } from '../support/guests/serial-shell.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

describe.skipIf(withoutEmulatedLinux !== undefined)(withoutEmulatedLinux ?? 'a Linux on the embedded driver', () => {
  test(
    'boots, runs commands and moves files by its agent, shows text on its screen, is suspended, resumed and cloned, and obeys a stop',
    { timeout: 1_800_000 },
    async () => {
      using state = newState()
      const { kernel, initrd, cmdline } = getEmulatedLinux()
      const allowed = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_ALLOWED_FOLDERS: dirname(kernel) }
      const env = { ...allowed, VMHOST_LISTEN: 'http://127.0.0.1:0' }
      const start = (): Promise<Service> => startService({ state: state.path, driver: 'embedded', env })
      let service = await start()
      const token = await service.signIn()
      const call = async (method: string, path: string, body?: object) =>
        service.call(method, `/api/v1/machines${path}`, { token, body })
      const show = async (name: string) => (await call('GET', `/${name}`)).body[0]
      const execute = async (name: string, command: string) => (await call('PUT', `/${name}/execute`, { command })).body
      /** An emulated Linux takes a minute to boot, and longer where the machine is busy. */
      const untilBooted = <T>(look: () => Promise<T>): Promise<T> => until(() => until(look), 60_000)
      const waitForAgent = (name: string): Promise<void> =>
        untilBooted(async () => expect((await show(name)).GuestTools).toMatchObject({ state: 'installed' }))

      const machine = { name: 'linux', memory: 96, disks: [{ size: 8 }], kernel, initrd, cmdline }
      const { status, body: made } = await call('POST', '', machine)
      expect(status, made.message).toBe(201)
      const home = (await show('linux')).Home
      const begun = Date.now()
      await call('PUT', '/linux/start')
      const ready = await untilBooted(() => waitForSerial({ home, name: 'linux' }, /GUEST:READY ([\d.]+)/))
      console.log(`a shell ${(Date.now() - begun) / 1000} s after the start; the guest's clock says ${ready[1]} s`)

      await waitForAgent('linux')
      expect(await show('linux')).toMatchObject({
        OS: 'Emulated Linux 1',
        Hardware: { cpu: { cpus: 1, accl: 'off', mode: '32' }, memory: { size: '96Mb' }, net0: { enabled: false } },
        Network: { ipAddresses: [] },
      })
      expect(await execute('linux', 'uname -m; blockdev --getsize64 /dev/sda; exit 3')).toMatchObject({
        stdout: `i686\n${8 << 20}\n`,
        exit_code: 3,
      })
      const content = randomBytes(200_000)
      const file = '/api/v1/machines/linux/files?path=/tmp/file'
      const headers = { 'content-type': 'application/octet-stream' }
      const written = await service.call('PUT', file, { token, body: content, headers })
      const digest = createHash('sha256').update(content).digest('hex')
      expect(written.body).toMatchObject({ size: content.length, sha256: digest })
      expect((await execute('linux', 'sha256sum < /tmp/file')).stdout).toContain(digest)
      expect((await execute('linux', 'wc -c < /tmp/file')).stdout.trim()).toBe(String(content.length))
      await execute('linux', 'echo kept > /dev/sda; sync')
      const readScreen = async (): Promise<string[]> => {
        const headers = { authorization: `Bearer ${token}` }
        const response = await fetch(`${service.url}/api/v1/machines/linux/screenshot`, { headers })
        return readScreenText(decodePng(await response.bytes()))
      }
      await execute('linux', 'echo seen on the screen > /dev/tty1')
      expect(await readScreen()).toContain('seen on the screen')

      expect((await call('PUT', '/linux/suspend')).status).toBe(200)
      await service.stop()
      service = await start()
      expect((await call('PUT', '/linux/resume')).status).toBe(200)
      await waitForAgent('linux')
      expect((await execute('linux', 'wc -c < /tmp/file; head -c 4 /dev/sda')).stdout).toBe(`${content.length}\nkept`)
      expect(await readScreen()).toContain('seen on the screen')
      const clock = Number((await execute('linux', 'date +%s')).stdout)
      expect(Math.abs(clock - Date.now() / 1000)).toBeLessThan(30)

      const stopped = await call('PUT', '/linux/stop')
      expect(stopped.status, stopped.body.message).toBe(200)
      expect((await call('PUT', '/linux/clone?linked=true', { clone_name: 'twin' })).status).toBe(200)
      expect((await call('DELETE', '/linux')).status).toBe(409)
      await call('PUT', '/twin/start')
      await waitForAgent('twin')
      expect((await execute('twin', 'head -c 4 /dev/sda')).stdout).toBe('kept')
      expect((await call('PUT', '/twin/stop?force=true')).status).toBe(200)
      await service.stop()
    },
  )
})
