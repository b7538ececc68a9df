import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { HypervisorDriver } from '#lib/hypervisor/driver.ts'
import { buildQemuArguments } from '#lib/hypervisor/qemu/arguments/build.ts'
import { buildFloodingDisk, isUnbroken } from '../../support/guests/flooding-guest.ts'
import { newFolder } from '../../support/folder.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { newState } from '../../support/service.ts'
import { startHost } from '../../support/transfers.ts'
import { until } from '../../support/waiting.ts'
import { findRotatedLog } from '../../support/guests/rotated-log.ts'

/** A guest that is translated on a busy host says its megabytes slowly. */

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0
const pidIn = (file: string): number => Number(existsSync(file) ? readFileSync(file, 'latin1') : 0)
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    // One that has ended and was not waited for is none.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}

/** What is kept of a machine's serial output. */
const logOf = (home: string, limit: number) => {
  const log = join(home, 'serial.log')
  const content = (file: string): Buffer => (existsSync(file) ? readFileSync(file) : Buffer.alloc(0))
  return {
    kept: () => Buffer.concat([content(findRotatedLog(home)), content(log)]),
    /** Waits until more than the limit was said from now on, and sees it kept within its bound at every moment. */
    async floods(): Promise<void> {
      const first = statSync(findRotatedLog(home), { throwIfNoEntry: false })?.mtimeMs ?? 0
      await until(() => {
        expect(sizeOf(log)).toBeLessThanOrEqual(limit)
        const aside = findRotatedLog(home)
        expect(sizeOf(aside)).toBeLessThanOrEqual(limit)
        expect(statSync(aside).mtimeMs).toBeGreaterThan(first)
      })
    },
  }
}

const title = withoutQemu ? 'QEMU is not installed' : 'a guest whose serial output has no end'

describe.skipIf(withoutQemu)(title, { timeout: 300_000 }, () => {
  test('is kept within the bound, with and without a driver, and when the recorder is killed', async () => {
    const limit = 64 * 1024
    using folder = newFolder()
    const machines = join(folder.path, 'machines')
    const recorder = join(folder.path, 'recorder', 'pid')
    const open = async (serialLogSize: number): Promise<HypervisorDriver> => {
      const driver = await createQemu(machines, { serialLogSize })
      await driver.open(() => {})
      return driver
    }
    const how = { force: true, deadline: AbortSignal.timeout(240_000) }
    let driver = await open(limit)
    const path = join(folder.path, 'flood.img')
    buildFloodingDisk(path)
    const { id, home } = await driver.create({ name: 'flood', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    try {
      await driver.run(id, 'start', how)
      const log = logOf(home, limit)
      await log.floods()
      await driver.run(id, 'pause', how)
      await until(() => expect(isUnbroken(log.kept())).toBe(true))
      await driver.run(id, 'resume', how)

      const killed = pidIn(recorder)
      process.kill(killed, 'SIGKILL')
      await until(() => expect(pidIn(recorder)).not.toBe(killed))
      await log.floods()

      await driver.close()
      await log.floods()
      const lived = pidIn(recorder)
      driver = await open(limit)
      expect((await driver.get(id))?.state).toBe('running')
      await log.floods()
      expect(pidIn(recorder)).toBe(lived)

      // Another recorder, as after an upgrade of the program.
      await driver.close()
      driver = await open(limit / 2)
      expect(pidIn(recorder)).not.toBe(lived)
      expect(isAlive(lived)).toBe(false)
      await logOf(home, limit / 2).floods()

      await driver.run(id, 'stop', how)
      // Nobody needs it any more.
      await until(() => expect(isAlive(pidIn(recorder))).toBe(false))
    } finally {
      await driver.run(id, 'stop', how)
      await driver.close()
    }
  })

  test('a QEMU from before the recorder, which writes its log itself, is kept within the bound by the service', async () => {
    const limit = 64 * 1024
    using folder = newFolder()
    const machines = join(folder.path, 'machines')
    const path = join(folder.path, 'flood.img')
    buildFloodingDisk(path)
    let driver = await createQemu(machines)
    await driver.open(() => {})
    const { id, home, definition } = await driver.create({
      name: 'flood',
      description: '',
      cpus: 1,
      memory: 16,
      disks: [{ path }],
    })
    await driver.close()
    mkdirSync(join(home, 'run'))
    const args = buildQemuArguments(definition, 'tcg').map(argument =>
      argument.startsWith('socket,id=serial,')
        ? 'socket,id=serial,path=run/serial.sock,server=on,wait=off,logfile=serial.log,logappend=on'
        : argument,
    )
    spawn('qemu-system-x86_64', [...args, '-pidfile', 'run/pid'], {
      cwd: home,
      stdio: 'ignore',
      detached: true,
    }).unref()
    await until(() => expect(sizeOf(join(home, 'serial.log'))).toBeGreaterThan(2 * limit))

    driver = await createQemu(machines, { serialLogSize: limit })
    await driver.open(() => {})
    const how = { force: true, deadline: AbortSignal.timeout(240_000) }
    try {
      expect((await driver.get(id))?.state).toBe('running')
      const sizes = ['serial.log', 'serial.log.1'].map(name => join(home, name))
      await until(() => expect(sizeOf(sizes[1]!)).toBe(limit))
      await until(() => expect(sizeOf(sizes[0]!)).toBeLessThan(limit))
      // Started anew, it is recorded.
      await driver.run(id, 'stop', how)
      await driver.run(id, 'start', how)
      await logOf(home, limit).floods()
    } finally {
      await driver.run(id, 'stop', how)
      await driver.close()
    }
  })

  test('a recorder that stands still holds up the guest, and neither QEMU nor the service', async () => {
    using folder = newFolder()
    const driver = await createQemu(join(folder.path, 'machines'))
    await driver.open(() => {})
    const path = join(folder.path, 'flood.img')
    buildFloodingDisk(path)
    const { id, home } = await driver.create({ name: 'flood', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    const how = { force: true, deadline: AbortSignal.timeout(240_000) }
    await driver.run(id, 'start', how)
    const recorder = pidIn(join(folder.path, 'recorder', 'pid'))
    try {
      const log = logOf(home, 1 << 20)
      await until(() => expect(log.kept().length).toBeGreaterThan(0))
      process.kill(recorder, 'SIGSTOP')
      for (const verb of ['pause', 'resume', 'reset'] as const) await driver.run(id, verb, how)
      process.kill(recorder, 'SIGCONT')
      const before = log.kept().length
      await until(() => expect(log.kept().length).toBeGreaterThan(before + 200_000))
    } finally {
      process.kill(recorder, 'SIGCONT')
      await driver.run(id, 'stop', how)
      await driver.close()
    }
  })

  test('is kept within the bound while the service is killed and comes back, and the recorder lives on', async () => {
    const limit = 2 ** 20
    using state = newState()
    const start = () => startHost(state.path, 'qemu', { VMHOST_SERIAL_LOG_SIZE: '1' })
    const first = await start()
    const disk = join(state.path, 'attach', 'flood.img')
    buildFloodingDisk(disk)
    expect((await first.call('POST', '/machines', { name: 'flood', memory: 16, disks: [{ path: disk }] })).status).toBe(
      201,
    )
    expect((await first.call('PUT', '/machines/flood/start')).status).toBe(200)
    const home: string = (await first.call('GET', '/machines/flood')).body[0].Home
    const log = logOf(home, limit)
    await log.floods()
    const recorder = pidIn(join(state.path, 'machines/recorder/pid'))
    expect(readFileSync(`/proc/${recorder}/environ`, 'latin1')).not.toContain('VMHOST')

    await first.service.kill()
    await log.floods()
    const second = await start()
    expect(pidIn(join(state.path, 'machines/recorder/pid'))).toBe(recorder)
    expect((await second.call('GET', '/machines/flood/status')).body).toMatchObject({ status: 'running' })

    // Without either nothing is kept, and the machine goes on.
    await second.service.kill()
    process.kill(recorder, 'SIGKILL')
    await until(() => expect(isAlive(recorder)).toBe(false))
    const third = await start()
    await log.floods()
    expect((await third.call('PUT', '/machines/flood/stop?force=true')).status).toBe(200)
  })
})
