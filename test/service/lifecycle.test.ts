import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { quickenDemo } from '../support/guests/quick-guest.ts'
import { pause, until } from '../support/waiting.ts'

/** The demo machine of a service, driven over HTTPS and judged by what its guest says. */
const drive = async (service: Service, token: string) => {
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await service.call(method, `/api/v1/machines${path}`, { token, body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body
  }
  const homeOf = async (name: string): Promise<string> => (await ask('GET', `/${name}`))[0].Home
  const serial = (home: string): string => readFileSync(join(home, 'serial.log'), 'latin1')
  const ticks = (home: string): number[] =>
    [...serial(home).matchAll(/^T ([0-9A-F]{8})/gim)].map(match => Number.parseInt(match[1]!, 16))
  const moreTicks = async (home: string): Promise<void> => {
    const before = ticks(home).length
    await until(() => expect(ticks(home).length).toBeGreaterThan(before))
  }
  return { ask, homeOf, serial, ticks, moreTicks }
}

const env = { VMHOST_ROOT_PASSWORD: rootPassword }

describe.each(['embedded', 'qemu'] as const)('a machine on %s', driver => {
  describe.skipIf(driver === 'qemu' && withoutQemu)(
    withoutQemu && driver === 'qemu' ? 'QEMU is not installed' : 'over HTTPS',
    () => {
      test('passes all verbs and a restart of the service without losing a tick', async () => {
        using state = newState()
        let service = await startService({ state: state.path, driver, env })
        const token = await service.signIn()
        let { ask, homeOf, serial, ticks, moreTicks } = await drive(service, token)
        const home = await homeOf('demo')
        quickenDemo(home)

        await ask('GET', '/demo/start')
        await until(() => expect(serial(home)).toContain('T 00000001'))
        await moreTicks(home)
        await ask('PUT', '/demo/pause')
        const paused = ticks(home).length
        // Of a guest that runs, two ticks.
        await pause(200)
        expect(ticks(home)).toHaveLength(paused)
        await ask('PUT', '/demo/resume')
        await moreTicks(home)
        await ask('PUT', '/demo/suspend')
        expect(await ask('GET', '/demo/status')).toMatchObject({ status: 'suspended' })
        expect(await service.stop()).toBe(0)

        service = await startService({ state: state.path, driver, env })
        ;({ ask, homeOf, moreTicks } = await drive(service, token))
        expect(await ask('GET', '/demo/status')).toMatchObject({ status: 'suspended' })
        await ask('PUT', '/demo/resume')
        await moreTicks(home)
        // One boot, and every tick once: nothing was lost and nothing was done twice.
        expect(ticks(home)).toEqual(ticks(home).map((_, at) => at + 1))
        expect(serial(home).match(/BOOT/g)).toHaveLength(1)
        await ask('PUT', '/demo/stop')
        expect(serial(home)).toContain('BYE')

        await ask('PUT', '/demo/clone', { clone_name: 'twin' })
        const twin = await homeOf('twin')
        await ask('PUT', '/twin/start')
        await until(() => expect(serial(twin)).toContain('BOOT'))
        await ask('PUT', '/demo/start')
        await until(() => expect(serial(home)).toContain('BOOT 00000002'))
        expect(serial(twin)).toContain('BOOT 00000002')
        for (const name of ['demo', 'twin']) {
          await ask('PUT', `/${name}/stop?force=true`)
          expect((await service.call('DELETE', `/api/v1/machines/${name}`, { token })).status).toBe(202)
        }
        expect(await ask('GET', '')).toEqual([])
        expect(await service.stop()).toBe(0)
      })
    },
  )
})

describe.skipIf(withoutQemu)(
  withoutQemu ? 'QEMU is not installed' : 'a machine on qemu that was made over HTTPS',
  () => {
    test('outlives a killed service and is reattached without losing a tick', async () => {
      using state = newState()
      let service = await startService({ state: state.path, driver: 'qemu', env })
      const token = await service.signIn()
      const kernel = join(state.path, 'attach/demo-kernel.bin')
      const made = await service.call('POST', '/api/v1/machines', {
        token,
        body: { name: 'made', memory: 16, disks: [{ size: 1 }], kernel },
      })
      expect(made.status).toBe(201)
      let { ask, homeOf, ticks, moreTicks, serial } = await drive(service, token)
      const home = await homeOf('made')
      await ask('PUT', '/made/start')
      await until(() => expect(serial(home)).toContain('T 00000001'))
      await service.kill()
      await moreTicks(home)

      service = await startService({ state: state.path, driver: 'qemu', env })
      ;({ ask, moreTicks } = await drive(service, token))
      expect(await ask('GET', '/made/status')).toMatchObject({ status: 'running' })
      await moreTicks(home)
      await moreTicks(home)
      expect(Number((await ask('GET', '/made'))[0].Uptime)).toBeGreaterThan(0)
      expect(ticks(home)).toEqual(ticks(home).map((_, at) => at + 1))
      await ask('PUT', '/made/stop')
      expect(await service.stop()).toBe(0)
    })
  },
)

test('the service exits when its state is closed, even if connections are open', async () => {
  using state = newState()
  const open = '--import=data:text/javascript,setInterval(()=>{},1000)'
  const service = await startService({ state: state.path, driver: 'embedded', env: { ...env, NODE_OPTIONS: open } })
  expect(await service.stop()).toBe(0)
})
