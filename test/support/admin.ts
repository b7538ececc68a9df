import { expect } from 'vitest'
import type { Answer } from './harness.ts'
import { rootPassword, type Service, startService } from './service.ts'

/** A service, and somebody in it with the role ADMIN: who may make machines and push, and is less than root. */
export interface AdminHost {
  readonly service: Service
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
}

const password = 'Another-Horse-7-Battery'

/** Starts a service by plain HTTP on loopback, with the configuration of a fresh installation but for `env`. */
export const startAdminHost = async (
  state: string,
  driver: 'embedded' | 'qemu',
  env: Readonly<Record<string, string>> = {},
): Promise<AdminHost> => {
  const service = await startService({
    state,
    driver,
    env: {
      VMHOST_ROOT_PASSWORD: rootPassword,
      VMHOST_LISTEN: 'http://127.0.0.1:0',
      VMHOST_ALLOWED_FOLDERS: '',
      ...env,
    },
  })
  const root = await service.signIn()
  const user = { username: 'adm', name: 'adm', email: 'adm@example.test', password, roles: ['USER', 'ADMIN'] }
  const made = await service.call('POST', '/api/v1/auth/users', { token: root, body: user })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const { body } = await service.call('POST', '/api/v1/auth/token', { body: { username: 'adm', password } })
  return {
    service,
    call: (method, path, sent, headers = {}) =>
      service.call(method, `/api/v1${path}`, { token: body.token, body: sent, headers }),
  }
}
