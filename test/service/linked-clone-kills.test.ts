import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

const rounds = Number(process.env['CLONE_ROUNDS'] ?? 2)

interface Machine {
  readonly ID: string
  readonly Name: string
  readonly Home: string
}

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'linked clones', () => {
  test(
    `${rounds} kills during their creation lose no acknowledged clone, and leave no remains of the others`,
    { timeout: 60_000 + rounds * 30_000 },
    async () => {
      using state = newState()
      const start = (): Promise<Service> =>
        startService({
          state: state.path,
          driver: 'qemu',
          env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' },
        })
      /** What must be there, and what may be: clones that nobody was told of when the service was killed. */
      const acknowledged = new Set<string>()
      const begun = new Set<string>()
      let token = ''
      let checked = 0

      /** Makes clones until the service is killed; now and then the source has to be frozen anew. */
      const work = async (service: Service, worker: string): Promise<void> => {
        for (let at = 0; ; at += 1) {
          const name = `${worker}-${at}`
          begun.add(name)
          const body = { clone_name: name }
          const { status } = await service.call('PUT', '/api/v1/machines/demo/clone?linked=true', { token, body })
          if (status === 200) acknowledged.add(name)
        }
      }
      const runs = async (service: Service, { Name, Home }: Machine): Promise<void> => {
        const act = (verb: string) => service.call('PUT', `/api/v1/machines/${Name}/${verb}`, { token })
        const { status, body } = await act('start')
        expect(status, `${Name}: ${body.message}`).toBe(200)
        await until(() => expect(readFileSync(join(Home, 'serial.log'), 'utf8')).toContain('MB BOOT'))
        expect((await act('stop?force=true')).status).toBe(200)
      }
      const check = async (service: Service): Promise<void> => {
        const machines = (await service.call('GET', '/api/v1/machines', { token })).body as Machine[]
        const clones = machines.filter(({ Name }) => Name !== 'demo')
        const demo = machines.find(({ Name }) => Name === 'demo')!
        const names = new Set(clones.map(({ Name }) => Name))
        expect([...acknowledged].filter(name => !names.has(name))).toEqual([])
        expect([...names].filter(name => !begun.has(name))).toEqual([])
        expect(readdirSync(join(demo.Home, '..')).toSorted()).toEqual(machines.map(({ ID }) => ID).toSorted())
        for (const clone of clones) await runs(service, clone)
        checked += clones.length
        // This writes to the disk of the source, so that its next clone needs a new base.
        await runs(service, demo)
        expect(existsSync(join(demo.Home, 'disk0.qcow2.new'))).toBe(false)
        for (const { Name } of clones)
          expect((await service.call('DELETE', `/api/v1/machines/${Name}`, { token })).status).toBe(202)
        acknowledged.clear()
        begun.clear()
      }

      for (let round = 0; round < rounds; round += 1) {
        const service = await start()
        token = await service.signIn()
        await check(service)
        const workers = ['a', 'b'].map(worker => work(service, `${worker}-${round}`).catch(() => {}))
        // In the first clone of all, or in one after some that were acknowledged.
        const told = round % 4
        await until(() => expect(acknowledged.size).toBeGreaterThanOrEqual(told), 5)
        await new Promise(resolve => setTimeout(resolve, 5 + ((round * 53) % 180)))
        await service.kill()
        await Promise.all(workers)
      }
      const service = await start()
      token = await service.signIn()
      await check(service)
      console.log(`${rounds} kills, ${checked} clones started`)
      expect(await service.stop()).toBe(0)
    },
  )
})
