import { existsSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { buildBootSectorDisk } from './guests/boot-sector.ts'
import type { Answer } from './harness.ts'
import { rootPassword, type Service, type StartOptions, startService } from './service.ts'
import { until } from './waiting.ts'

/** A service with its own state that this test has signed in to. */
export interface Host {
  readonly service: Service
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** Starts a machine and gives the number of the boot that its guest counts on its disk. */
  boot(name: string): Promise<number>
  stop(name: string): Promise<void>
}

export type Driver = 'embedded' | 'qemu'

const bootsOf = (home: string): number[] =>
  [
    ...(existsSync(join(home, 'serial.log')) ? readFileSync(join(home, 'serial.log'), 'latin1') : '').matchAll(
      /BOOT ([0-9A-F]{8})\r?\n/gi,
    ),
  ].map(match => Number.parseInt(match[1]!, 16))

/** Starts a service that is reached by plain HTTP on loopback. */
export const startHost = async (
  state: string,
  driver: Driver,
  env: Readonly<Record<string, string>> = {},
  options: Pick<StartOptions, 'program' | 'args'> = {},
): Promise<Host> => {
  const service = await startService({
    ...options,
    state,
    driver,
    env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0', VMHOST_DEMO: 'off', ...env },
  })
  const token = await service.signIn()
  const call: Host['call'] = (method, path, body) => service.call(method, `/api/v1${path}`, { token, body })
  return {
    service,
    call,
    async boot(name) {
      const home: string = (await call('GET', `/machines/${name}`)).body[0].Home
      const before = bootsOf(home).length
      const started = await call('GET', `/machines/${name}/start`)
      expect(started.status, started.body.message).toBe(200)
      return until(() => {
        const boots = bootsOf(home)
        if (boots.length <= before) throw new Error('it has not said how often it has booted')
        return boots.at(-1)!
      })
    },
    async stop(name) {
      expect((await call('GET', `/machines/${name}/stop?force=true`)).status).toBe(200)
    },
  }
}

/** Makes a machine whose guest counts its boots on its disk: with QEMU one of a sparse GiB, of which little is there. */
export const createCounter = async ({ call }: Host, state: string, driver: Driver, name: string): Promise<void> => {
  if (driver === 'embedded') return
  const disk = join(state, 'attach', 'boot.img')
  buildBootSectorDisk(disk)
  truncateSync(disk, 2 ** 30)
  expect((await call('POST', '/machines', { name, memory: 16, disks: [{ path: disk }] })).status).toBe(201)
}

/** A connection to the catalog of a service. */
export const connectionTo = ({ service }: Host): string => `host=root:${rootPassword}@${service.url}`
