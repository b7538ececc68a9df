import { spawnSync } from 'node:child_process'
import { closeSync, globSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../../support/service.ts'

const qemuInstalled = process.env['REQUIRE_QEMU'] === '1' || spawnSync('qemu-system-x86_64', ['--version']).status === 0
const skipped = process.platform !== 'linux' || !qemuInstalled

test.skipIf(skipped)('no password is in the environment of a machine (needs QEMU and Linux)', async () => {
  using state = newState()
  const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_STORAGE_PASSWORD: 'Opens-The-Store-1' }
  const service = await startService({ state: state.path, driver: 'qemu', env })
  const token = await service.signIn()
  expect((await service.call('PUT', '/api/v1/machines/demo/start', { token })).status).toBe(200)
  const [file = ''] = globSync('machines/qemu/*/qemu.pid', { cwd: state.path })
  const environment = readFileSync(`/proc/${readFileSync(join(state.path, file), 'utf8').trim()}/environ`, 'utf8')
  expect(environment).toContain('PATH=')
  expect(environment).not.toMatch(/PASSWORD|VMHOST/)
})

test.skipIf(skipped)(
  'no file that the service was started with is open in a machine (needs QEMU and Linux)',
  async () => {
    using state = newState()
    const file = join(state.path, 'of-the-shell')
    writeFileSync(file, '')
    const descriptor = openSync(file, 'r')
    const env = { VMHOST_ROOT_PASSWORD: rootPassword }
    const service = await startService({ state: state.path, driver: 'qemu', env, inherits: descriptor })
    closeSync(descriptor)
    const token = await service.signIn()
    expect((await service.call('PUT', '/api/v1/machines/demo/start', { token })).status).toBe(200)
    const [pidFile = ''] = globSync('machines/qemu/*/qemu.pid', { cwd: state.path })
    const qemu = readFileSync(join(state.path, pidFile), 'utf8')
    const recorder = readFileSync(join(state.path, 'machines/recorder/pid'), 'utf8')
    for (const pid of [service.pid, qemu, recorder]) {
      const open = readdirSync(`/proc/${pid}/fd`).map(fd => {
        try {
          return readlinkSync(`/proc/${pid}/fd/${fd}`)
        } catch {
          return 'closed meanwhile'
        }
      })
      expect(open).not.toContain(file)
    }
  },
)
