import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { buildFloodingDisk } from '../support/guests/flooding-guest.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newState } from '../support/service.ts'
import { type Host, startHost } from '../support/transfers.ts'
import { until } from '../support/waiting.ts'
import { findRotatedLog } from '../support/guests/rotated-log.ts'

const guests = 20
const limit = 2 ** 20
/** Milliseconds in which all guests write as much, also where they are translated. */
const longestFlood = 10 * 60_000

const found = (file: string) => statSync(file, { throwIfNoEntry: false })

/** What a process keeps in memory, in MB. */
const memoryOf = (pid: number): number =>
  Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]) / 1024)

/** Asks the service for its machines one time after the other until disposed; gives how long that took, in milliseconds. */
const watchLatency = (host: Host): { readonly times: readonly number[] } & AsyncDisposable => {
  const times: number[] = []
  let over = false
  const ask = async (): Promise<void> => {
    while (!over) {
      const begun = performance.now()
      expect((await host.call('GET', '/machines')).status).toBe(200)
      times.push(performance.now() - begun)
      await wait(100)
    }
  }
  const asking = ask()
  return {
    times,
    async [Symbol.asyncDispose]() {
      over = true
      await asking
    },
  }
}

const figures = (times: readonly number[]): string => {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): number => Math.round(sorted[Math.floor(part * (sorted.length - 1))]!)
  return `${sorted.length} lists of machines in ${at(0.5)} ms (median), ${at(0.99)} ms (99 %), ${at(1)} ms (longest)`
}

describe.skipIf(withoutQemu)(
  withoutQemu ? 'QEMU is not installed' : `${guests} guests that flood their serial lines`,
  () => {
    test('keep within the bound of their logs and hold nobody up, with the service and without it', async () => {
      using state = newState()
      const start = (): Promise<Host> => startHost(state.path, 'qemu', { VMHOST_SERIAL_LOG_SIZE: '1' })
      const host = await start()
      const names = Array.from({ length: guests }, (_, at) => `flood ${at}`)
      const homes: string[] = []
      for (const name of names) {
        const disk = join(state.path, 'attach', `${name}.img`)
        buildFloodingDisk(disk)
        const made = await host.call('POST', '/machines', { name, memory: 16, disks: [{ path: disk }] })
        expect(made.status, made.body.message).toBe(201)
        expect((await host.call('PUT', `/machines/${name}/start`)).status).toBe(200)
        homes.push((await host.call('GET', `/machines/${name}`)).body[0].Home)
      }
      const recorder = (): number => Number(readFileSync(join(state.path, 'machines/recorder/pid'), 'latin1'))
      const lived = recorder()
      const most = { log: 0, machine: 0, recorder: 0 }

      /** Waits until each guest has filled a log from now on, and sees all within their bounds at every moment. */
      const flood = async (): Promise<void> => {
        const first = homes.map(home => found(findRotatedLog(home))?.mtimeMs ?? 0)
        await until(
          () => {
            for (const home of homes) {
              const sizes = [join(home, 'serial.log'), findRotatedLog(home)].map(path => found(path)?.size ?? 0)
              const files = readdirSync(home).map(name => found(join(home, name)))
              most.log = Math.max(most.log, ...sizes)
              most.machine = Math.max(
                most.machine,
                files.reduce((sum, file) => sum + (file?.isFile() ? file.size : 0), 0),
              )
            }
            most.recorder = Math.max(most.recorder, memoryOf(recorder()))
            for (const [at, home] of homes.entries())
              expect(found(findRotatedLog(home))?.mtimeMs ?? 0, names[at]).toBeGreaterThan(first[at]!)
          },
          10,
          longestFlood,
        )
        // A machine's folder holds some notes beside its two logs.
        expect(most.log).toBeLessThanOrEqual(limit)
        expect(most.machine).toBeLessThanOrEqual(2 * limit + 65_536)
      }

      {
        await using latency = watchLatency(host)
        await flood()
        console.log(
          `${guests} flooding guests, service alive: ${figures(latency.times)}; service ${memoryOf(host.service.pid)} MB`,
        )
      }
      await host.service.kill()
      await flood()
      expect(recorder()).toBe(lived)

      const again = await start()
      const machines: { State: string }[] = (await again.call('GET', '/machines')).body
      expect(machines.map(({ State }) => State)).toEqual(names.map(() => 'running'))
      for (const name of names) expect((await again.call('PUT', `/machines/${name}/stop?force=true`)).status).toBe(200)
      console.log(
        `${guests} flooding guests: log at most ${most.log} bytes, folder of a machine ${most.machine}, recorder ${most.recorder} MB`,
      )
      expect(most.recorder).toBeLessThan(256)
      await again.service.stop()
    })
  },
)
