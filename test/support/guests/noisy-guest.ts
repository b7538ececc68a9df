import { randomFillSync } from 'node:crypto'
import { copyFileSync, existsSync, openSync, readFileSync, writeSync, closeSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { buildBootSectorDisk } from './boot-sector.ts'
import type { Driver, Host } from '../transfers.ts'
import { until } from '../waiting.ts'

/** A machine whose guest counts its boots and ticks, on a disk of incompressible data. */
export interface NoisyGuest {
  readonly name: string
  /** Returns the numbers of all boots that its guest has printed. */
  boots(): readonly number[]
  /** Waits for the guest's next tick and returns its number. */
  nextTick(): Promise<number>
}

/** Bytes of the disk, and of its start, which contains the guest. */
const [diskSize, guestSize] = [48 * 2 ** 20, 2 ** 20]

const fillWithNoise = (disk: string): void => {
  const file = openSync(disk, 'r+')
  writeSync(file, randomFillSync(Buffer.allocUnsafe(diskSize - guestSize)), 0, undefined, guestSize)
  closeSync(file)
}

const numbers = (home: string, pattern: RegExp): number[] => {
  const log = join(home, 'serial.log')
  const text = existsSync(log) ? readFileSync(log, 'latin1') : ''
  return [...text.matchAll(pattern)].map(match => Number.parseInt(match[1]!, 16))
}

/** Creates such a machine and starts it. An embedded host must have its demo machine. */
export const startNoisyGuest = async (host: Host, state: string, driver: Driver): Promise<NoisyGuest> => {
  const name = 'noisy'
  const home = async (of: string): Promise<string> => (await host.call('GET', `/machines/${of}`)).body[0].Home
  const create = async (more: object): Promise<void> => {
    const made = await host.call('POST', '/machines', { name, memory: 16, ...more })
    expect(made.status, made.body.message).toBe(201)
  }
  if (driver === 'qemu') {
    const disk = join(state, 'attach', 'noisy.img')
    buildBootSectorDisk(disk, diskSize)
    fillWithNoise(disk)
    await create({ disks: [{ path: disk }] })
  } else {
    const kernel = join(state, 'attach', 'kernel.bin')
    copyFileSync(join(await home('demo'), 'kernel.bin'), kernel)
    await create({ kernel, disks: [{ size: diskSize / 2 ** 20 }] })
    fillWithNoise(join(await home(name), 'disk0.img'))
  }
  await host.boot(name)
  const folder = await home(name)
  const ticks = (): number[] => numbers(folder, /^T ([0-9A-F]{8})\r?\n/gim)
  return {
    name,
    boots: () => numbers(folder, /BOOT ([0-9A-F]{8})\r?\n/gi),
    async nextTick() {
      const before = ticks().length
      await until(() => expect(ticks().length).toBeGreaterThan(before))
      return ticks().at(-1)!
    },
  }
}
