import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { quickenDemo } from '../support/guests/quick-guest.ts'
import { seededRandom } from '../support/random.ts'
import { rounds } from '../support/rounds.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { pause, until } from '../support/waiting.ts'

const kills = rounds(12, 100)
const most = 4

interface Pool {
  readonly members: readonly { readonly id: string; readonly name: string; readonly state: string }[]
}
interface Machine {
  readonly ID: string
  readonly Name: string
  readonly State: string
  readonly owner?: string
}

/** The names of the folders of machines in which a QEMU runs. */
const findProcesses = (machinesFolder: string): readonly string[] =>
  readdirSync('/proc').flatMap(pid => {
    try {
      const folder = /^\d+$/.test(pid) ? readlinkSync(`/proc/${pid}/cwd`) : ''
      const isQemu = folder.startsWith(machinesFolder) && readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('qemu')
      return isQemu ? [basename(folder)] : []
    } catch {
      // It has ended.
      return []
    }
  })

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'pools', () => {
  test(
    `${kills} kills during claims lose no claim, give no machine twice, and leave no process and no file`,
    { timeout: 60_000 + kills * 20_000 },
    async () => {
      using state = newState()
      const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' }
      const start = (): Promise<Service> => startService({ state: state.path, driver: 'qemu', env })
      const random = seededRandom(7)
      let service = await start()
      const token = await service.signIn()
      const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
        service.call(method, `/api/v1${path}`, { token, headers, ...(body !== undefined && { body }) })
      const readPool = async (): Promise<Pool> => (await ask('GET', '/pools/ci')).body
      const machinesFolder = join(state.path, 'machines', 'qemu')

      quickenDemo((await ask('GET', '/machines/demo')).body[0].Home)
      const pool = { name: 'ci', from: { machine: 'demo' }, template: {}, min: 1, max: most }
      expect((await ask('POST', '/pools', pool)).status).toBe(201)

      /** The key with which each machine was claimed. */
      const given = new Map<string, string>()
      let claims = 0
      let unanswered = 0
      let keys = 0
      const claim = async (key: string): Promise<string | undefined> => {
        const { status, body } = await ask('POST', '/pools/ci/claim', {}, { 'idempotency-key': key })
        if (status !== 201) return undefined
        expect(given.get(body.id) ?? key, 'given twice').toBe(key)
        given.set(body.id, key)
        return body.id
      }
      /** Claims and deletes machines until the service is killed. Gives what had no answer then. */
      const work = async (): Promise<{ key: string } | { machine: string }> => {
        for (;;) {
          keys += 1
          const key = `key-${keys}`
          const machine = await claim(key).catch(() => undefined)
          if (machine === undefined) return { key }
          claims += 1
          const deleted = await ask('DELETE', `/machines/${machine}?force=true`).catch(() => undefined)
          if (deleted?.status !== 202) return { machine }
        }
      }

      for (let kill = 0; kill < kills; kill += 1) {
        const before = claims
        const workers = [work(), work()]
        // The machines that were ready are claimed at once, and the others come one after the other.
        if (kill % 2 === 0) await until(() => expect(claims).toBeGreaterThan(before), 2)
        await pause(Math.floor(random() * 120))
        await service.kill()
        const left = await Promise.all(workers)
        service = await start()
        for (const each of left) {
          unanswered += 'key' in each ? 1 : 0
          const machine = 'key' in each ? await claim(each.key) : each.machine
          expect(machine, 'a claim that is repeated gets a machine').toBeDefined()
          const { status } = await ask('DELETE', `/machines/${machine}?force=true`)
          expect([202, 404]).toContain(status)
        }
      }
      await until(async () => expect((await readPool()).members).toMatchObject([{ state: 'ready' }]))
      const [member] = (await readPool()).members
      const machines = (await ask('GET', '/machines')).body as readonly Machine[]
      expect(machines.map(({ Name }) => Name).toSorted()).toEqual([member!.name, 'demo'].toSorted())
      expect(readdirSync(machinesFolder).toSorted()).toEqual(machines.map(({ ID }) => ID).toSorted())
      expect(findProcesses(machinesFolder)).toEqual([member!.id])
      expect((await ask('DELETE', '/pools/ci')).status).toBe(202)
      expect(readdirSync(machinesFolder)).toHaveLength(1)
      expect(findProcesses(machinesFolder)).toEqual([])
      console.log(`${kills} kills, ${claims} claims with an answer, ${unanswered} repeated ones`)
      expect(await service.stop()).toBe(0)
    },
  )
})
