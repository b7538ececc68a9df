import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  createNoisy,
  diskIn,
  firstRoundOn,
  formats,
  homeOf,
  killsOn,
  renew,
  resumed,
  timed,
} from '../support/guests/noisy.ts'
import { rounds } from '../support/rounds.ts'
import { seededRandom } from '../support/random.ts'
import { newState } from '../support/service.ts'
import { killedKinds, localKind } from '../support/storages.ts'
import { connectionTo, startHost } from '../support/transfers.ts'
import { passing, until } from '../support/waiting.ts'

/** Of another host come the bytes in one way, whatever it has them from. */
const cases = [localKind, ...killedKinds].flatMap(kind => [
  { kind, name: kind.name, from: 'itself' },
  ...(kind === localKind ? rounds([], [{ kind, name: kind.name, from: 'another host' }]) : []),
])

describe.each(cases)('the service is killed during a pull from $from over $name', ({ kind, from }) => {
  const kills = Math.ceil(killsOn(kind) / 2)
  const first = firstRoundOn(kind, 1)
  test.skipIf(kind.left !== '')(
    `at ${kills} moments: it has one complete machine, or none${kind.left && ` (${kind.left})`}`,
    async () => {
      using state = newState()
      using other = newState()
      await using place = await kind.open()
      const random = seededRandom(from === 'itself' ? 7 : 8)
      const catalog = await startHost(other.path, 'embedded', { VMHOST_DEMO: 'on' })
      const home = await createNoisy(catalog, other.path)
      const digests: string[] = []
      for (const [version, more] of formats.entries()) {
        digests.push(renew(home))
        const pushed = await catalog.call('POST', '/catalog/push', {
          catalog_id: 'noisy',
          version: String(version),
          connection: place.connection,
          uuid: 'noisy',
          ...more,
        })
        expect(pushed.status, pushed.body.message).toBe(200)
      }
      const own = from === 'itself'
      if (own) await catalog.service.stop()
      const path = own ? other.path : state.path
      let host = await startHost(path, 'embedded')
      const pull = (version: number, name: string) =>
        host.call('PUT', '/catalog/pull', {
          catalog_id: 'noisy',
          version: String(version),
          machine_name: name,
          ...(!own && { connection: connectionTo(catalog) }),
        })
      const machines = async (): Promise<string[]> =>
        (await host.call('GET', '/machines')).body.map((one: { Name: string }) => one.Name)
      const there = await machines()

      const cached = async (): Promise<number> => (await host.call('GET', '/catalog/cache')).body.length
      /** Milliseconds of a pull of each version: the first, and one of what is cached by then. */
      const durations: number[][] = []
      for (const version of digests.keys()) {
        const both: number[] = []
        for (const _ of ['first', 'cached']) {
          both.push(await timed(() => pull(version, 'timed')))
          expect((await host.call('DELETE', '/machines/timed')).status).toBe(202)
        }
        durations.push(both)
      }
      let done = 0
      for (let round = first; round < first + kills; round += 1) {
        const version = round % digests.length
        const cold = round % 3 !== 2
        if (cold) await host.call('DELETE', '/catalog/cache')
        else {
          expect((await pull(version, 'kept')).status).toBe(200)
          expect((await host.call('DELETE', '/machines/kept')).status).toBe(202)
          await host.call('DELETE', '/jobs/cleanup')
        }
        const duration = durations[version]![cold ? 0 : 1]!
        const part = random()
        const at = `round ${round}, ${cold ? '' : 'cached, '}${Math.round(part * duration)} ms of ${duration}`
        const answer = pull(version, 'Copy').catch(() => undefined)
        await passing(part, duration)
        await host.service.kill()
        const answered = await answer

        host = await startHost(path, 'embedded')
        for (const end of await resumed(host)) expect(end, at).toBe('completed')
        const found = await machines()
        expect([there, [...there, 'Copy']].map(names => names.toSorted())).toContainEqual(found.toSorted())
        if (answered?.status === 200) expect(found, at).toContain('Copy')
        // Folders and machines are the same set: nothing half-made is left.
        const folders = readdirSync(join(path, 'machines/embedded'))
        expect(folders, at).toHaveLength(found.length)
        expect(folders.filter(name => name.startsWith('.'))).toEqual([])
        // What nobody has come for goes as soon as what goes on has ended.
        await until(() => expect(readdirSync(join(path, 'transfers')), at).toEqual([]))
        expect(readdirSync(join(path, 'cache')), at).toHaveLength(await cached())
        const again = await pull(version, 'copy')
        if (found.includes('Copy')) {
          done += 1
          expect(again.status, at).toBe(409)
          expect(diskIn(await homeOf(host, 'copy')), at).toBe(digests[version])
          expect((await host.call('DELETE', '/machines/copy')).status).toBe(202)
          expect((await pull(version, 'copy')).status, at).toBe(200)
        } else expect(again.status, `${at}: ${again.body.message}`).toBe(200)
        expect(diskIn(await homeOf(host, 'copy')), at).toBe(digests[version])
        expect((await host.call('DELETE', '/machines/copy')).status).toBe(202)
        expect(readdirSync(join(path, 'transfers')), at).toEqual([])
        await host.call('DELETE', '/jobs/cleanup')
      }
      console.log(`${kind.name}, ${from}: ${done} of ${kills} were done by the service itself after its start`)
      expect(await host.service.stop()).toBe(0)
      if (!own) await catalog.service.stop()
    },
    // On a machine that does nothing else it takes a fifth of this.
    180_000 + kills * 60_000,
  )
})
