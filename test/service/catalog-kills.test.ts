import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { CatalogManifest } from '#lib/catalog/manifest-schema.ts'
import { readBytes } from '../contracts/provider.ts'
import { newFolder } from '../support/folder.ts'
import type { Answer } from '../support/harness.ts'
import {
  createNoisy,
  diskIn,
  diskInPack,
  digestOf,
  filesBelow,
  firstRoundOn,
  formats,
  killsOn,
  renew,
  resumed,
  timed,
} from '../support/guests/noisy.ts'
import { seededRandom } from '../support/random.ts'
import { newState } from '../support/service.ts'
import { killedKinds, localKind } from '../support/storages.ts'
import { startHost } from '../support/transfers.ts'
import { passing, until } from '../support/waiting.ts'

describe('the service is killed', () => {
  describe.each([localKind, ...killedKinds])('during a push to $name', kind => {
    const kills = killsOn(kind)
    test.skipIf(kind.left !== '')(
      `at ${kills} moments: a repeated push creates the right pack, and nothing else is left${kind.left && ` (${kind.left})`}`,
      async () => {
        using state = newState()
        await using place = await kind.open()
        const random = seededRandom(20_261_121)
        let host = await startHost(state.path, 'embedded', { VMHOST_DEMO: 'on' })
        const home = await createNoisy(host, state.path)
        const push = (version: string, more: object) =>
          host.call('POST', '/catalog/push', {
            catalog_id: 'noisy',
            version,
            connection: place.connection,
            uuid: 'noisy',
            ...more,
          })
        const manifests = async (): Promise<CatalogManifest[]> => (await host.call('GET', '/catalog')).body
        const named = async (): Promise<string[]> =>
          (await manifests())
            .flatMap(({ pack_filename: pack, metadata_filename: meta }) => [pack, `${pack}.pack.json`, meta])
            .map(name => `noisy/${name}`)
            .sort()
        /** Chunks are nobody's, and stay until they are collected. */
        const withoutChunks = async (): Promise<string[]> =>
          (await place.everything()).filter(path => !path.startsWith('chunks/'))

        let before = renew(home)
        const rounds = Array.from({ length: kills }, (_, at) => firstRoundOn(kind, 2) + at)
        const durations = new Map<number, number>()
        for (const format of new Set(rounds.map(round => round % formats.length)))
          durations.set(format, await timed(() => push('1', formats[format]!)))
        await host.call('DELETE', '/jobs/cleanup')
        let resumedPushes = 0
        for (const round of rounds) {
          const format = round % formats.length
          const version = round % 2 === 0 ? '1' : `new${round}`
          const contents = [renew(home)]
          const duration = durations.get(format)!
          const part = random()
          const at = `round ${round}, ${Math.round(part * duration)} ms of ${duration}`
          const answer = push(version, formats[format]!).catch(() => undefined)
          await passing(part, duration)
          await host.service.kill()
          await answer
          const left = await withoutChunks()
          // What goes on is of another content then.
          if (round % 3 === 2) contents.push(renew(home))
          const now = contents.at(-1)!

          host = await startHost(state.path, 'embedded')
          // The one of before can be had at every moment; the push may be under way again, or done.
          const pulled = await host.call('PUT', '/catalog/pull', {
            catalog_id: 'noisy',
            version: '1',
            machine_name: 'old',
          })
          expect(pulled.status, `${at}: ${pulled.body.message}`).toBe(200)
          expect(version === '1' ? [before, ...contents] : [before], at).toContain(diskIn(pulled.body.local_path))
          expect((await host.call('DELETE', '/machines/old')).status).toBe(202)

          const again = await push(version, formats[format]!)
          expect(again.status, `${at}: ${again.body.message}`).toBe(200)
          const ends = await resumed(host)
          for (const end of ends) expect(end, at).toBe('completed')
          // Beside the push that came again and the pull.
          resumedPushes += ends.length - 2
          const [manifest] = again.body
          const pack = `noisy/${manifest.pack_filename}`
          expect(digestOf(await readBytes(await place.provider.read(pack))), at).toBe(manifest.pack_sha256)
          expect(await diskInPack(place.provider, pack), at).toBe(now)
          expect(await withoutChunks(), `${at}; after the kill there were ${left.join(', ')}`).toEqual(await named())
          expect(readdirSync(join(state.path, 'transfers')), at).toEqual([])
          expect((await host.call('GET', '/machines/noisy/status')).body, at).toMatchObject({ status: 'stopped' })
          expect(diskIn(home), at).toBe(now)
          if (version === '1') before = now
          else expect((await host.call('DELETE', `/catalog/noisy/${version}`)).status).toBe(202)
          await host.call('DELETE', '/jobs/cleanup')
          await host.call('DELETE', '/catalog/cache')
        }
        console.log(`${kind.name}: ${resumedPushes} pushes were gone on with by the service itself after its start`)
        expect(await host.call('GET', '/machines/noisy/start')).toMatchObject({ status: 200 })
        expect(await withoutChunks()).toEqual(await named())
        expect(await host.service.stop()).toBe(0)
      },
      60_000 + kills * 30_000,
    )
  })

  test('a cancelled push or pull leaves nothing and can be repeated', async () => {
    using state = newState()
    using provider = newFolder()
    const host = await startHost(state.path, 'embedded', { VMHOST_DEMO: 'on' })
    const digest = renew(await createNoisy(host, state.path))
    const catalogId = { catalog_id: 'noisy', version: '1' }
    const connection = `provider=local-storage;catalog_path=${provider.path}`
    const push = (how: string) => host.call('POST', `/catalog/push${how}`, { ...catalogId, connection, uuid: 'noisy' })
    const pull = (how: string) => host.call('PUT', `/catalog/pull${how}`, { ...catalogId, machine_name: 'copy' })
    const machines = join(state.path, 'machines/embedded')
    const transfers = join(state.path, 'transfers')

    const cancelWhen = async (begun: Promise<Answer>, isThere: () => boolean): Promise<void> => {
      const { id } = (await begun).body
      await until(() => expect(isThere()).toBe(true), 2)
      expect((await host.call('POST', `/jobs/${id}/cancel`)).status).toBe(202)
      expect(await resumed(host)).toContainEqual(expect.stringMatching(/^failed The job was cancelled by root/))
      expect((await host.call('GET', `/jobs/${id}`)).body).toMatchObject({ state: 'failed', code: 409 })
      expect(readdirSync(transfers)).toEqual([])
      expect(readdirSync(machines)).toHaveLength(2)
    }
    await cancelWhen(push('/async'), () => filesBelow(transfers).some(file => file.endsWith('pack.part')))
    expect(filesBelow(provider.path)).toEqual([])
    expect((await push('')).status).toBe(200)
    await cancelWhen(pull('/async'), () => readdirSync(machines).some(name => name.startsWith('.new-')))
    const pulled = await pull('')
    expect(pulled.status, pulled.body.message).toBe(200)
    expect(diskIn(pulled.body.local_path)).toBe(digest)
    expect(await host.service.stop()).toBe(0)
  })
})
