import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { mkdtemp, open as fsOpen, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import type { NewMachine } from '#lib/hypervisor/definition.ts'
import type { MachineView, DriverEvent, Verb } from '#lib/hypervisor/driver.ts'
import type { EmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import { createAssembler } from '#build/demo-guest/assembler.ts'
import { bootCount } from '#build/demo-guest/guest.ts'
import { createEmbeddedBench, waitForOutput, readSerialLog } from '../../support/drivers/embedded-bench.ts'
import { buildQuickGuest } from '../../support/guests/quick-guest.ts'
import { patience } from '../../support/waiting.ts'
import { changeMachine } from '../../support/drivers/change-machine.ts'
import { findRotatedLog } from '../../support/guests/rotated-log.ts'

const processors = availableParallelism()

const lastTick = (serial: string): number => Number.parseInt(serial.match(/.*^T ([0-9A-F]{8})\r\n/ms)?.[1] ?? '0', 16)

/** A kernel that prints its command line and the first module it is given, both ended by a zero, and halts. */
const printingKernel = (): Uint8Array => {
  const a = createAssembler(0x100000)
  for (const word of [0x1badb002, 0x10000, -(0x1badb002 + 0x10000), 0x100000, 0x100000, 0, 0]) a.dword(word)
  a.dword({ label: 'start' })
  a.label('start')
  a.set('esp', 0x180000)
  a.bytes(0x8b, 0x73, 16) // mov esi, [ebx + 16]: the command line
  a.call('print')
  a.bytes(0x8b, 0x43, 24, 0x8b, 0x30) // mov eax, [ebx + 24]; mov esi, [eax]: where the first module starts
  a.call('print')
  a.bytes(0xfa, 0xf4) // cli; hlt
  a.label('print')
  a.set('edx', 0x3f8)
  a.label('next')
  a.bytes(0xac, 0x84, 0xc0) // lodsb; test al, al
  a.jumpIf('equal', 'end')
  a.bytes(0xee) // out dx, al
  a.jump('next')
  a.label('end')
  a.bytes(0xc3)
  return a.finish()
}

describe('the embedded driver', () => {
  let folder: string
  let bench: ReturnType<typeof createEmbeddedBench>
  let driver: EmbeddedDriver
  let events: DriverEvent[]
  let kernel: string

  const open = async (): Promise<void> => {
    driver = bench.driver()
    events = []
    await driver.open(event => events.push(event))
  }
  const run = (id: string, verb: Verb, { force = false, limit = patience } = {}): Promise<MachineView> => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new ServiceError('timeout', 'given up')), limit).unref()
    return driver.run(id, verb, { force, deadline: controller.signal })
  }
  const disk = ({ home }: MachineView): string => join(home, 'disk0.img')
  const boots = async (view: MachineView): Promise<number | undefined> => bootCount(await readFile(disk(view)))
  const wanted = (changes: Partial<NewMachine> = {}): NewMachine => ({
    name: 'one',
    description: '',
    cpus: 1,
    memory: 16,
    disks: [{ size: 1 }],
    kernel,
    ...changes,
  })
  /** A running machine whose guest has ticked. */
  const ticking = async (changes?: Partial<NewMachine>): Promise<MachineView> => {
    const { id } = await driver.create(wanted(changes))
    const view = await run(id, 'start')
    await waitForOutput(view, /^T /m)
    return view
  }
  const until = async (view: MachineView, state: string): Promise<MachineView> => {
    await expect.poll(async () => (await driver.get(view.id))?.state).toBe(state)
    return (await driver.get(view.id))!
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-embedded-'))
    kernel = join(folder, 'kernel.bin')
    await writeFile(kernel, buildQuickGuest())
    bench = createEmbeddedBench(join(folder, 'machines'))
    await open()
  })
  afterEach(async () => {
    for (const { id, state } of await driver.list()) if (state !== 'stopped') await run(id, 'stop', { force: true })
    await driver.close()
    await rm(folder, { recursive: true })
  })

  test('a machine beyond the limits of the driver is refused with the limit in the message', async () => {
    const file = async (name: string, bytes: Uint8Array): Promise<string> => {
      await writeFile(join(folder, name), bytes)
      return join(folder, name)
    }
    const refused = (changes: Partial<NewMachine>, fault: string, message: string) =>
      expect(driver.create({ ...wanted(), ...changes })).rejects.toMatchObject({
        fault,
        message: expect.stringContaining(message),
      })
    await refused({ cpus: 2 }, 'unsupported', 'emulates 1')
    await refused({ disks: [{ size: 1 }, { size: 1 }] }, 'unsupported', 'at most 1')
    await refused({ disks: [{ size: 65 }] }, 'unsupported', '64 MB')
    await refused({ disks: [{ path: 'relative.img' }] }, 'invalid', 'absolute')
    await refused({ disks: [{ path: join(folder, 'none') }] }, 'invalid', 'nothing at that path')
    const qcow2 = await file('qcow2', Buffer.concat([Buffer.from('QFI\xfb', 'latin1'), Buffer.alloc(508)]))
    await refused({ disks: [{ path: qcow2 }] }, 'unsupported', 'qcow2')
    await refused({ disks: [{ path: await file('odd', new Uint8Array(700)) }] }, 'invalid', '512')
    await refused({ memory: 1 }, 'invalid', 'from 2 to 1024 MB')
    await refused({ memory: 1025 }, 'invalid', 'from 2 to 1024 MB')
    await refused({ firmware: 'uefi' }, 'unsupported', 'firmware')
    await refused({ display: true }, 'unsupported', 'display')
    await refused({ machine_type: 'q35' }, 'unsupported', 'machine_type')
    await refused({ max_memory: 64 }, 'unsupported', 'max_memory')
    await refused({ limits: { cpu_percent: 50 } }, 'unsupported', 'limits')
    await refused({ cdroms: [{ path: kernel }] }, 'unsupported', 'cdroms')
    await refused({ shared_folders: [] }, 'unsupported', 'shared_folders')
    await refused({ disks: [{ size: 1, bus: 'virtio' }] }, 'unsupported', 'bus')
    await refused({ kernel: undefined }, 'invalid', 'multiboot')
    await refused({ kernel: await file('text', Buffer.from('no kernel')) }, 'invalid', 'multiboot')
    expect(await driver.list()).toEqual([])
  })

  test('a kernel gets its command line and its initial RAM disk', async () => {
    const initrd = join(folder, 'initrd')
    await writeFile(kernel, printingKernel())
    await writeFile(initrd, 'of RAM\0')
    const view = await driver.create(wanted({ cmdline: 'root=disk ', initrd }))
    await run(view.id, 'start').catch(() => {})
    await until(view, 'stopped')
    expect(await waitForOutput(view, /RAM/)).toBe('root=disk of RAM')
  })

  test('a guest that powers itself off is stopped, and the driver reports it', async () => {
    const view = await ticking()
    const serial = await driver.openSerial(view.id)
    serial.write(Buffer.from('q'))
    expect(await until(view, 'stopped')).not.toHaveProperty('problem')
    expect(events).toMatchObject([{ view: { id: view.id, state: 'stopped' }, cause: 'guest' }])
    expect(await boots(view)).toBe(1)
    expect(() => serial.write(Buffer.from('q'))).toThrow('has stopped')
    await expect(driver.openSerial(view.id)).rejects.toMatchObject({ fault: 'conflict' })
  })

  test('a stop that the guest ignores times out; a forced stop succeeds', async () => {
    const view = await ticking()
    await bench.ignoreShutdownRequests(view)
    await expect(run(view.id, 'stop', { limit: 300 })).rejects.toMatchObject({ fault: 'timeout' })
    expect(await driver.get(view.id)).toEqual(view)
    await waitForOutput(view, /^T /m, (await readSerialLog(view)).length)
    expect(await run(view.id, 'stop', { force: true })).toMatchObject({ state: 'stopped', ranFor: 0 })
    expect(events).toEqual([])
  })

  test('a terminated worker thread is reported as a crash', async () => {
    const view = await ticking()
    await bench.kill(view.id)
    expect(await until(view, 'stopped')).toMatchObject({ problem: 'crashed' })
    expect(events).toMatchObject([{ view: { state: 'stopped', problem: 'crashed' }, cause: 'crash' }])
    expect(await run(view.id, 'start')).not.toHaveProperty('problem')
    await waitForOutput(view, /^MB BOOT 00000002/m)
  })

  test('after a kill of the process its machine is crashed and its disk has all writes of the guest', async () => {
    await driver.close()
    const script = fileURLToPath(new URL('../../support/drivers/embedded-host.ts', import.meta.url))
    const child = spawn(process.execPath, [script, join(folder, 'machines')], { stdio: ['ignore', 'pipe', 'inherit'] })
    const gone = once(child, 'exit')
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const home = join(folder, 'machines', line.toString().trim())
    await waitForOutput({ home } as MachineView, /^MB BOOT 00000001/m)
    child.kill('SIGKILL')
    await gone
    await open()
    const [view] = await driver.list()
    expect(view).toMatchObject({ name: 'demo', home, state: 'stopped', problem: 'crashed' })
    expect(await boots(view!)).toBe(1)
    await run(view!.id, 'start')
    await waitForOutput(view!, /^MB BOOT 00000002/m)
  })

  // One more machine than are saved at a time.
  test.skipIf(processors > 8)(
    'at shutdown the most recently used machines are saved first, until the time limit',
    async () => {
      const views = []
      for (let at = 0; at <= processors; at += 1) views.push(await ticking({ name: `machine ${at}` }))
      const [first, ...others] = views as [MachineView, ...MachineView[]]
      // Whoever writes to these waits for a reader, so each of those that were used last holds its place to the end.
      const hung = others.map(view => join(view.home, 'state.bin.tmp'))
      for (const path of hung) execFileSync('mkfifo', [path])
      await driver.close(AbortSignal.timeout(1_000))
      const readers = await Promise.all(hung.map(path => fsOpen(path, constants.O_RDWR | constants.O_NONBLOCK)))

      await open()
      const problem = 'crashed: not saved in time'
      expect(await driver.get(first.id)).toMatchObject({ state: 'stopped', problem })
      for (const { id } of others) expect(await driver.get(id)).toMatchObject({ state: 'stopped', problem })
      await Promise.all(readers.map(reader => reader.close()))
      await run(first.id, 'start')
      await waitForOutput(first, /^MB BOOT 00000002/m)
    },
  )

  test('the end of the service brings a running machine back running and a paused one paused', async () => {
    const [running, paused] = [await ticking(), await ticking({ name: 'two' })]
    await run(paused.id, 'pause')
    const at = lastTick(await readSerialLog(paused))
    await driver.close()
    const before = lastTick(await readSerialLog(running))
    await open()
    expect(await driver.get(running.id)).toMatchObject({ state: 'running' })
    expect(await driver.get(paused.id)).toMatchObject({ state: 'paused' })
    await waitForOutput(running, new RegExp(`^T ${(before + 1).toString(16).padStart(8, '0')}`, 'im'))
    expect(lastTick(await readSerialLog(paused))).toBe(at)
    expect((await readdir(running.home)).filter(name => name.startsWith('state'))).toEqual([])
    await run(paused.id, 'resume')
    await waitForOutput(paused, new RegExp(`^T ${(at + 1).toString(16).padStart(8, '0')}`, 'im'))
  })

  test('a machine without a disk can be suspended too', async () => {
    const view = await ticking({ disks: [] })
    const { stateFile } = await run(view.id, 'suspend')
    const { length } = await readSerialLog(view)
    await run(view.id, 'resume')
    const output = await waitForOutput(view, /^T [0-9A-F]{8}\r/im, length)
    const ticks = [...output.matchAll(/^T ([0-9A-F]{8})\r/gim)].map(([, tick]) => Number.parseInt(tick!, 16))
    expect(ticks).toEqual(ticks.map((_, at) => at + 1))
    await expect(readFile(stateFile!)).rejects.toThrow('ENOENT')
    expect(await readSerialLog(view)).toContain('MB BOOT --------')
  })

  test('a saved state that does not match the machine is refused and kept; a forced stop deletes it', async () => {
    const one = await ticking()
    const { stateFile } = await run(one.id, 'suspend')
    const state = await readFile(stateFile!)
    const refused = async (reason: string): Promise<void> => {
      await expect(run(one.id, 'start')).rejects.toMatchObject({
        fault: 'conflict',
        message: expect.stringContaining(reason),
      })
      expect(await driver.get(one.id)).toMatchObject({ state: 'suspended', problem: expect.stringContaining(reason) })
    }
    await truncate(stateFile!, state.length - 1)
    await refused('truncated')
    await writeFile(stateFile!, 'something else')
    await refused('not written by this driver')
    await writeFile(stateFile!, state)
    const sectors = await readFile(disk(one))
    await writeFile(disk(one), Buffer.from(sectors).fill(1, 5120, 5121))
    await refused('disk has changed')
    await writeFile(disk(one), sectors)
    const resumed = await run(one.id, 'resume')
    expect(resumed.state).toBe('running')
    expect(resumed).not.toHaveProperty('problem')
    await run(one.id, 'suspend')
    expect(await run(one.id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
    await expect(readFile(stateFile!)).rejects.toThrow('ENOENT')
  })

  test('a disk used in place has one machine at a time, is copied for a clone and survives its machine', async () => {
    const path = join(folder, 'shared.img')
    await writeFile(path, new Uint8Array(1 << 20))
    const one = await ticking({ disks: [{ path }] })
    const two = await driver.create(wanted({ name: 'two', disks: [{ path }] }))
    const busy = { fault: 'conflict', message: expect.stringContaining('in use by one') }
    await expect(run(two.id, 'start')).rejects.toMatchObject(busy)
    await run(one.id, 'suspend')
    await expect(run(two.id, 'start')).rejects.toMatchObject(busy)
    await expect(
      driver.clone(two.id, 'three', { linked: false, deadline: AbortSignal.timeout(patience), onProgress: () => {} }),
    ).rejects.toThrow('in use')
    await run(one.id, 'stop', { force: true })
    await run(two.id, 'start')
    await waitForOutput(two, /^MB BOOT 00000002/m)
    await run(two.id, 'stop')
    const three = await driver.clone(two.id, 'three', {
      linked: false,
      deadline: AbortSignal.timeout(patience),
      onProgress: () => {},
    })
    expect(three.definition.disks).toEqual([{ path: 'disk0.img', size: 1 << 20, format: 'raw' }])
    expect(three.definition.networks).not.toEqual(two.definition.networks)
    await run(three.id, 'start')
    await waitForOutput(three, /^MB BOOT 00000003/m)
    await driver.remove(two.id)
    expect(bootCount(await readFile(path))).toBe(2)
  })

  test('an aborted clone leaves no files', async () => {
    const { id } = await driver.createDemo()
    const deadline = AbortSignal.abort(new ServiceError('timeout', 'given up'))
    await expect(driver.clone(id, 'late', { linked: false, deadline, onProgress: () => {} })).rejects.toBe(
      deadline.reason,
    )
    expect(await readdir(join(folder, 'machines'))).toEqual([id])
  })

  test('the demo machine and its clone have separate disks, and hardware changes apply at the next start', async () => {
    const demo = await driver.createDemo()
    const clone = await driver.clone(demo.id, 'copy', {
      linked: false,
      deadline: AbortSignal.timeout(patience),
      onProgress: () => {},
    })
    await changeMachine(driver, clone.id, { memory: 32 })
    for (const { id } of [clone, demo]) await run(id, 'start')
    await Promise.all([clone, demo].map(view => waitForOutput(view, /^MB BOOT 00000001/m)))
    await expect(changeMachine(driver, clone.id, { memory: 16 })).rejects.toMatchObject({ fault: 'conflict' })
    expect(await changeMachine(driver, clone.id, { name: 'renamed' })).toMatchObject({
      name: 'renamed',
      state: 'running',
    })
    expect(await run(clone.id, 'restart')).toMatchObject({ name: 'renamed', definition: { memory: 32 } })
    await waitForOutput(clone, /^MB BOOT 00000002/m)
    await run(clone.id, 'stop')
    expect([await boots(clone), await boots(demo)]).toEqual([2, 1])
  })

  test('eight machines run concurrently', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, (_, at) => ticking({ name: `number ${at}` })))
    await Promise.all(all.map(({ id }) => run(id, 'stop')))
    expect(await Promise.all(all.map(boots))).toEqual(all.map(() => 1))
  })

  test('the size of the serial log is limited', async () => {
    const { id, home } = await driver.createDemo()
    await writeFile(join(home, 'serial.log'), Buffer.alloc((1 << 20) - 4, 'x'))
    const view = await run(id, 'start')
    expect((await waitForOutput(view, /^T /m)).length).toBeLessThan(1000)
    expect((await readFile(findRotatedLog(home))).length).toBeLessThanOrEqual(1 << 20)
  })
})
