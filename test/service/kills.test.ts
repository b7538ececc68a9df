import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { quickenDemo } from '../support/guests/quick-guest.ts'
import { rounds } from '../support/rounds.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { pause, until } from '../support/waiting.ts'

/** Milliseconds after the request at which the service is killed: in the middle of each kind of work. */
const moments = rounds([0, 30], [0, 3, 8, 15, 30, 60, 110])
const verbs = ['start', 'stop', 'suspend', 'resume', 'restart', 'clone', 'delete'] as const
/** In every run each verb is cut off on one driver. */
const usualVerbs: Readonly<Record<'embedded' | 'qemu', readonly (typeof verbs)[number][]>> = {
  embedded: ['start', 'suspend', 'clone'],
  qemu: ['stop', 'resume', 'restart', 'delete'],
}
const stable = new Set(['stopped', 'running', 'paused', 'suspended'])

const serial = (home: string): string => readFileSync(join(home, 'serial.log'), 'latin1')

/** The ticks of each boot: what was saved must go on where it was, and nothing may be counted twice. */
const bootsOf = (home: string): number[][] =>
  serial(home)
    .split('BOOT ')
    .slice(1)
    .map(part => [...part.matchAll(/^T ([0-9A-F]{8})/gim)].map(match => Number.parseInt(match[1]!, 16)))

const stateBefore: Readonly<Record<(typeof verbs)[number], string>> = {
  start: 'stopped',
  stop: 'running',
  suspend: 'running',
  resume: 'suspended',
  restart: 'running',
  clone: 'stopped',
  delete: 'stopped',
}

describe.each(['embedded', 'qemu'] as const)('the service killed on %s', driver => {
  const left = driver === 'qemu' && withoutQemu
  describe.skipIf(left)(left ? 'QEMU is not installed' : 'in the middle of', () => {
    test.for(rounds(usualVerbs[driver], verbs))(
      '%s: afterwards the service shows each machine in the stable state that it really has',
      async verb => {
        using state = newState()
        let service: Service = await startService({
          state: state.path,
          driver,
          env: { VMHOST_ROOT_PASSWORD: rootPassword },
        })
        const token = await service.signIn()
        const ask = async (method: string, path: string, body?: unknown) =>
          service.call(method, `/api/v1/machines${path}`, { token, body })
        const machines = join(state.path, 'machines', driver)
        quickenDemo((await ask('GET', '/demo')).body[0].Home)
        for (const [round, moment] of moments.entries()) {
          const name = `m${round}`
          expect((await ask('PUT', '/demo/clone', { clone_name: name })).status).toBe(200)
          const home: string = (await ask('GET', `/${name}`)).body[0].Home
          if (stateBefore[verb] !== 'stopped') {
            await ask('PUT', `/${name}/start`)
            await until(() => expect(serial(home)).toContain('T 00000001'))
          }
          if (stateBefore[verb] === 'suspended') await ask('PUT', `/${name}/suspend`)

          const cut = {
            clone: () => ask('PUT', `/${name}/clone`, { clone_name: `${name} copy` }),
            delete: () => ask('DELETE', `/${name}`),
          }
          const request = (verb === 'clone' || verb === 'delete' ? cut[verb]() : ask('PUT', `/${name}/${verb}`)).catch(
            () => undefined,
          )
          await pause(moment)
          await service.kill()
          const answer = await request

          service = await startService({ state: state.path, driver })
          const { body } = await ask('GET', '')
          const shown = new Map((body as { Name: string; State: string }[]).map(one => [one.Name, one.State]))
          for (const [other, now] of shown) expect(stable, `${other} at ${moment} ms`).toContain(now)
          if (verb === 'delete' && answer?.status === 202) expect(shown.has(name)).toBe(false)
          if (verb === 'clone' && answer?.status === 200) expect(shown.has(`${name} copy`)).toBe(true)
          // Folders and machines are the same set: nothing half-made is left.
          expect(readdirSync(machines)).toHaveLength(shown.size)

          if (shown.get(name) === 'suspended') expect((await ask('PUT', `/${name}/resume`)).status).toBe(200)
          if (shown.get(name) === 'stopped') expect((await ask('PUT', `/${name}/start`)).status).toBe(200)
          if (shown.has(name)) {
            const before = serial(home).length
            await until(() => expect(serial(home).slice(before)).toMatch(/T \S{8}\s+$/))
            for (const ticks of bootsOf(home))
              expect(ticks, `${verb} at ${moment} ms`).toEqual(ticks.map((_, at) => at + 1))
          }
          for (const other of shown.keys())
            if (other !== 'demo') expect((await ask('DELETE', `/${other}?force=true`)).status).toBe(202)
        }
        expect(await service.stop()).toBe(0)
      },
    )
  })
})
