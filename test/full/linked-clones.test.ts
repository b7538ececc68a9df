import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { imageLayers } from '../support/disks/qcow2-disk.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

interface Api {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): ReturnType<Service['call']>
  /** A linked clone, or a full one; gives its id and the milliseconds that it took. */
  clone(name: string, linked?: boolean): Promise<{ readonly id: string; readonly took: number }>
}

const open = async (state: string, driver: 'qemu' | 'embedded'): Promise<{ service: Service; api: Api }> => {
  const service = await startService({ state, driver, env: { VMHOST_ROOT_PASSWORD: rootPassword } })
  const token = await service.signIn()
  const call: Api['call'] = (method, path, body, headers = {}) =>
    service.call(method, `/api/v1${path}`, { token, body, headers })
  return {
    service,
    api: {
      call,
      async clone(name, linked = true) {
        const begun = performance.now()
        const { status, body } = await call('PUT', `/machines/demo/clone?linked=${linked}`, { clone_name: name })
        expect(status, body.message).toBe(200)
        return { id: body.id, took: performance.now() - begun }
      },
    },
  }
}

/** The times of the first, the hundredth and the last, each the median of five. */
const figures = (times: readonly number[]): string =>
  [0, 98, times.length - 5]
    .map(from => times.slice(from, from + 5).toSorted((a, b) => a - b)[2]!)
    .map(time => `${Math.round(time)} ms`)
    .join(', ')

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'three hundred linked clones', () => {
  const run = async (what: 'deleted' | 'kept' | 'with a run of the source between them'): Promise<void> => {
    using state = newState()
    const { service, api } = await open(state.path, 'qemu')
    const [{ Home: home }] = (await api.call('GET', '/machines/demo')).body
    const times: number[] = []
    for (let at = 0; at < 300; at++) {
      const { id, took } = await api.clone(`clone ${at}`)
      times.push(took)
      if (what !== 'kept') expect((await api.call('DELETE', `/machines/${id}`)).status).toBe(202)
      if (what === 'with a run of the source between them') {
        expect((await api.call('PUT', '/machines/demo/start')).status).toBe(200)
        // The guest has counted this boot on its disk by then.
        const boot = `BOOT ${(at + 1).toString(16).padStart(8, '0')}`
        await until(async () => expect(await readFile(join(home, 'serial.log'), 'utf8')).toMatch(new RegExp(boot, 'i')))
        expect((await api.call('PUT', '/machines/demo/stop?force=true')).status).toBe(200)
      }
    }
    const layers = await imageLayers(join(home, 'disk0.qcow2'))
    const files = await readdir(home)
    console.log(
      `300 linked clones, ${what}: 1st, 100th, 300th ${figures(times)}; ${layers} layers, ${files.length} files`,
    )
    expect(layers).toBeLessThanOrEqual(3)
    expect(files.filter(name => name.startsWith('base-')).length).toBeLessThanOrEqual(2)
    const { id } = await api.clone('the last one')
    expect((await api.call('PUT', `/machines/${id}/start`)).status).toBe(200)
    expect((await api.call('PUT', `/machines/${id}/stop?force=true`)).status).toBe(200)
    await service.stop()
  }
  test.for(['deleted', 'kept', 'with a run of the source between them'] as const)('%s', { timeout: 600_000 }, run)
})

describe.for([
  ['qemu', true],
  ['qemu', false],
  ['embedded', false],
] as const)('ten clones at once on %s, linked: %s', ([driver, linked]) => {
  test.skipIf(driver === 'qemu' && withoutQemu).for([{}, { prefer: 'respond-async' }])(
    'are all made: %j',
    { timeout: 300_000 },
    async headers => {
      using state = newState()
      const { service, api } = await open(state.path, driver)
      const names = Array.from({ length: 10 }, (_, at) => `clone ${at}`)
      const answers = await Promise.all(
        names.map(name => api.call('PUT', `/machines/demo/clone?linked=${linked}`, { clone_name: name }, headers)),
      )
      for (const { status, body } of answers) {
        expect([200, 202], body.message).toContain(status)
        if (status === 200) continue
        await until(async () =>
          expect((await api.call('GET', `/jobs/${body.id}`)).body).toMatchObject({ state: 'completed' }),
        )
      }
      expect((await api.call('GET', '/machines')).body).toHaveLength(11)
      for (const name of names) expect((await api.call('PUT', `/machines/${name}/start`)).status).toBe(200)
      for (const name of names) expect((await api.call('PUT', `/machines/${name}/stop?force=true`)).status).toBe(200)
      await service.stop()
    },
  )
})
