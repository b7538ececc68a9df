import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Job } from '#lib/jobs/schemas.ts'
import { timed } from '../support/guests/noisy.ts'
import { startNoisyGuest } from '../support/guests/noisy-guest.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { declareTests, rounds } from '../support/rounds.ts'
import { newState } from '../support/service.ts'
import { type Driver, type Host, startHost } from '../support/transfers.ts'
import { passing, until } from '../support/waiting.ts'

const request = {
  catalog_id: 'noisy',
  version: '1',
  connection: 'provider=local-storage',
  uuid: 'noisy',
  suspend: true,
}
/** Seconds of work. */
const slowly = { compress_pack: true, compress_level: 9 }

const jobOf = async (host: Host, id: string): Promise<Job> => (await host.call('GET', `/jobs/${id}`)).body

/** Of the machine, as this process of the service shows it. */
const stateOf = async (host: Host): Promise<string> => (await host.call('GET', '/machines/noisy/status')).body.status

/** Waits until a push is packing. */
const packing = (host: Host, id: string): Promise<void> =>
  until(async () => {
    const { steps = [], ...job } = await jobOf(host, id)
    expect(job.state, job.error).toBe('running')
    const pack = steps.find(({ name }) => name === 'push_compress_stage')
    expect(pack?.value ?? 0).toBeGreaterThan(0)
  })

const ended = (host: Host, id: string): Promise<Job> =>
  until(async () => {
    const job = await jobOf(host, id)
    expect(['completed', 'failed']).toContain(job.state)
    return job
  })

describe.each(['embedded', 'qemu'] as const)('a push that suspends a machine on %s', (driver: Driver) => {
  const left = driver === 'qemu' && withoutQemu
  describe.skipIf(left)(left ? 'QEMU is not installed' : 'resumes it in the same state', () => {
    const env = { VMHOST_DEMO: driver === 'embedded' ? 'on' : 'off' }

    test('after the push, and the copy boots from the disk of that moment', async () => {
      using state = newState()
      const host = await startHost(state.path, driver, env)
      const guest = await startNoisyGuest(host, state.path, driver)
      const before = await guest.nextTick()
      expect((await host.call('POST', '/catalog/push', { ...request, suspend: undefined })).status).toBe(409)
      for (const [version, more] of [
        ['1', {}],
        ['2', { chunked: true }],
      ] as const) {
        const { status, body } = await host.call('POST', '/catalog/push', { ...request, ...more, version })
        expect(status, body.message).toBe(200)
        expect(await stateOf(host)).toBe('running')
        const pulled = await host.call('PUT', '/catalog/pull', {
          catalog_id: 'noisy',
          version,
          machine_name: `copy${version}`,
        })
        expect(pulled.status, pulled.body.message).toBe(200)
        expect(await host.boot(`copy${version}`)).toBe(2)
        await host.stop(`copy${version}`)
      }
      expect(await guest.nextTick()).toBeGreaterThan(before)
      expect(guest.boots()).toEqual([1])
      await host.stop(guest.name)
      await host.service.stop()
    })

    // In every run each way of an end is tried on one driver.
    declareTests(driver === 'embedded', () => {
      test('after the job is cancelled', async () => {
        using state = newState()
        const host = await startHost(state.path, driver, env)
        const guest = await startNoisyGuest(host, state.path, driver)
        const before = await guest.nextTick()
        const { body: job } = await host.call('POST', '/catalog/push/async', { ...request, ...slowly })
        await packing(host, job.id)
        expect(await stateOf(host)).toBe('cloning')
        expect((await host.call('POST', `/jobs/${job.id}/cancel`)).status).toBe(202)
        expect((await ended(host, job.id)).error).toContain('cancelled')
        expect(await stateOf(host)).toBe('running')
        expect(await guest.nextTick()).toBeGreaterThan(before)
        expect(guest.boots()).toEqual([1])
        expect(readdirSync(join(state.path, 'transfers'))).toEqual([])
        expect((await host.call('GET', '/catalog')).body).toEqual([])
        await host.stop(guest.name)
        await host.service.stop()
      })
    })

    declareTests(driver === 'qemu', () => {
      test.each(['continues', 'was cancelled'] as const)(
        'after the service is killed during the push, and the push %s',
        async how => {
          using state = newState()
          let host = await startHost(state.path, driver, env)
          const guest = await startNoisyGuest(host, state.path, driver)
          const before = await guest.nextTick()
          const { body: job } = await host.call('POST', '/catalog/push/async', { ...request, ...slowly })
          await packing(host, job.id)
          // It is on record when that is answered, and the machine is on its way back, or not yet.
          if (how === 'was cancelled') await host.call('POST', `/jobs/${job.id}/cancel`)
          await host.service.kill()
          host = await startHost(state.path, driver)
          const { state: end, error } = await ended(host, job.id)
          expect(end, error).toBe(how === 'continues' ? 'completed' : 'failed')
          await until(async () => expect(await stateOf(host)).toBe('running'))
          expect(await guest.nextTick()).toBeGreaterThan(before)
          expect(guest.boots()).toEqual([1])
          await until(() => expect(readdirSync(join(state.path, 'transfers'))).toEqual([]))
          expect((await host.call('GET', '/catalog')).body).toHaveLength(how === 'continues' ? 1 : 0)
          await host.stop(guest.name)
          await host.service.stop()
        },
      )
    })

    declareTests(driver === 'embedded', () => {
      test('after the service is shut down during the push, which the next start continues', async () => {
        using state = newState()
        let host = await startHost(state.path, driver, env)
        const guest = await startNoisyGuest(host, state.path, driver)
        const before = await guest.nextTick()
        const { body: job } = await host.call('POST', '/catalog/push/async', { ...request, ...slowly })
        await packing(host, job.id)
        expect(await host.service.stop()).toBe(0)
        // A machine on QEMU does not need the service.
        if (driver === 'qemu') expect(await guest.nextTick()).toBeGreaterThan(before)
        host = await startHost(state.path, driver)
        const { state: end, error } = await ended(host, job.id)
        expect(end, error).toBe('completed')
        expect(await stateOf(host)).toBe('running')
        expect(await guest.nextTick()).toBeGreaterThan(before)
        expect(guest.boots()).toEqual([1])
        await host.stop(guest.name)
        await host.service.stop()
      })
    })
  })
})

// An embedded machine that runs ends with the service.
describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'a machine on QEMU that a push suspends', () => {
  test('is resumed in the same state, whenever the service is killed', async () => {
    using state = newState()
    let host = await startHost(state.path, 'qemu')
    const guest = await startNoisyGuest(host, state.path, 'qemu')
    const whole = await timed(() => host.call('POST', '/catalog/push', request))
    const kills = rounds(3, 20)
    for (let round = 0; round < kills; round += 1) {
      const { body: job } = await host.call('POST', '/catalog/push/async', request)
      await passing(round / kills, whole)
      await host.service.kill()
      host = await startHost(state.path, 'qemu')
      const { state: end, error } = await ended(host, job.id)
      expect(end, `${round} of ${kills} parts of ${whole} ms: ${error}`).toBe('completed')
      await until(async () => expect(await stateOf(host)).toBe('running'))
    }
    await guest.nextTick()
    expect(guest.boots()).toEqual([1])
    await host.stop(guest.name)
    await host.service.stop()
  })
})
