import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { newState, rootPassword, startService } from '../support/service.ts'

const qemuInstalled = process.env['REQUIRE_QEMU'] === '1' || spawnSync('qemu-system-x86_64', ['--version']).status === 0
const skipped = process.platform !== 'linux' || !qemuInstalled

test.skipIf(skipped)('no password is in the environment of a machine (needs QEMU and Linux)', async () => {
  using state = newState()
  const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_STORAGE_PASSWORD: 'Opens-The-Store-1' }
  const service = await startService({ state: state.path, driver: 'qemu', env })
  const token = await service.signIn()
  expect((await service.call('PUT', '/api/v1/machines/demo/start', { token })).status).toBe(200)
  const [file = ''] = globSync('machines/qemu/*/run/pid', { cwd: state.path })
  const environment = readFileSync(`/proc/${readFileSync(join(state.path, file), 'utf8').trim()}/environ`, 'utf8')
  expect(environment).toContain('VMHOST_STATE=')
  expect(environment).not.toMatch(/PASSWORD/)
})
