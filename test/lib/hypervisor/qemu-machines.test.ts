import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bootCount } from '#build/demo-guest/guest.ts'
import type { HypervisorDriver, MachineView, DriverEvent, Verb } from '#lib/hypervisor/driver.ts'
import { buildQemuArguments } from '#lib/hypervisor/qemu/arguments/build.ts'
import { connectQmp } from '#lib/hypervisor/qemu/qmp.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { buildBootSectorDisk } from '../../support/guests/boot-sector.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { readSerialLog, typeOnSerialLine } from '../../support/guests/serial.ts'
import { patience, until } from '../../support/waiting.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'machines on QEMU', () => {
  let folder: string
  let driver: HypervisorDriver
  let events: DriverEvent[]

  const open = async (root = join(folder, 'machines')): Promise<void> => {
    driver = await createQemu(root)
    events = []
    await driver.open(event => void events.push(event))
  }
  const run = (id: string, verb: Verb, { force = false, limit = patience } = {}): Promise<MachineView> =>
    driver.run(id, verb, { force, deadline: AbortSignal.timeout(limit) })
  const get = async (id: string): Promise<MachineView> => (await driver.get(id))!
  const waitForOutput = (id: string, text: string | RegExp): Promise<void> =>
    until(async () => expect(await readSerialLog(await get(id))).toMatch(new RegExp(text)))
  /** Boots a machine of the type that older versions made. New ones are those of the contract of drivers. */
  const bootMachine = async (name = 'one'): Promise<MachineView> => {
    const path = join(folder, `${crypto.randomUUID()}.img`)
    buildBootSectorDisk(path)
    const disks = [{ path }]
    const { id } = await driver.create({ name, description: '', cpus: 1, memory: 16, disks, machine_type: 'pc' })
    await run(id, 'start')
    await waitForOutput(id, 'T 00000001')
    return get(id)
  }
  const readPid = async ({ home }: MachineView): Promise<number> =>
    Number(await readFile(join(home, 'qemu.pid'), 'utf8'))

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-qemu-'))
    await open()
  })
  afterEach(async () => {
    for (const { id } of await driver.list()) {
      await run(id, 'stop', { force: true }).catch(() => {})
      await driver.remove(id)
    }
    await driver.close()
    await rm(folder, { recursive: true })
  })

  test('a guest that powers itself off is stopped by the guest, without a problem', async () => {
    const view = await bootMachine()
    const { id } = view
    await typeOnSerialLine(view, 'q')
    await until(() => expect(events).not.toEqual([]))
    expect(events).toMatchObject([{ cause: 'guest', view: { id, state: 'stopped' } }])
    expect((await get(id)).problem).toBeUndefined()
  })

  test.for([
    ['SIGKILL', 'crash', 'crashed'],
    ['SIGTERM', 'host', undefined],
  ] as const)('a QEMU that gets %s is reported with the cause %s', async ([signal, cause, problem]) => {
    const view = await bootMachine()
    process.kill(await readPid(view), signal)
    await until(() => expect(events).not.toEqual([]))
    expect(events).toMatchObject([{ cause, view: { state: 'stopped' } }])
    const now = await get(view.id)
    if (problem) expect(now.problem).toContain(problem)
    else expect(now.problem).toBeUndefined()
  })

  test('a state change through the second control socket is reported', async () => {
    const view = await bootMachine()
    const other = await connectQmp(join(view.home, 'run/qmp2.sock'), () => {})
    await other.execute('stop')
    await until(() => expect(events).toHaveLength(1))
    await other.execute('cont')
    await until(() => expect(events).toHaveLength(2))
    other.close()
    expect(events).toMatchObject([
      { cause: 'host', view: { state: 'paused' } },
      { cause: 'host', view: { state: 'running' } },
    ])
  })

  test('files of a killed QEMU do not prevent a start', async () => {
    const view = await bootMachine()
    process.kill(await readPid(view), 'SIGKILL')
    await until(async () => expect(await get(view.id)).toMatchObject({ state: 'stopped' }))
    await mkdir(join(view.home, 'run'), { recursive: true })
    // The pid of a running process that is not a QEMU of this machine.
    await writeFile(join(view.home, 'qemu.pid'), String(process.pid))
    await run(view.id, 'start')
    await waitForOutput(view.id, 'BOOT 00000002')
  })

  test('a QEMU without pid file is killed after a kill of the service, and its guest never starts', async () => {
    const view = await bootMachine()
    await run(view.id, 'stop', { force: true })
    await driver.close()
    const said = await readSerialLog(view)
    await writeFile(join(view.home, 'op.json'), JSON.stringify({ verb: 'start', from: 'stopped' }))
    const args = buildQemuArguments(view.definition, 'tcg')
    const orphan = spawn('qemu-system-x86_64', args, { cwd: view.home, stdio: 'ignore' })
    const ended = new Promise(resolve => orphan.once('exit', resolve))
    await until(() => expect(existsSync(join(view.home, 'run/line.sock'))).toBe(true))
    await open()
    await ended
    expect(await get(view.id)).toMatchObject({ state: 'stopped' })
    expect(await readSerialLog(view)).toBe(said)
    await run(view.id, 'start')
    await waitForOutput(view.id, 'BOOT 00000002')
  })

  test('machines run in a folder with a long path', async () => {
    await driver.close()
    await open(join(folder, 'x'.repeat(120), 'machines'))
    const view = await bootMachine()
    expect(join(view.home, 'run/qmp.sock').length).toBeGreaterThan(160)
    await run(view.id, 'pause')
    await driver.close()
    await open(join(folder, 'x'.repeat(120), 'machines'))
    expect((await get(view.id)).state).toBe('paused')
    await run(view.id, 'suspend')
    await run(view.id, 'resume')
    await run(view.id, 'stop')
  })

  test('special characters in a name have no effect on the options of QEMU', async () => {
    const name = 'a,b=c "d" \'e\' $(f) é, -S,process=x'
    const view = await bootMachine(name)
    expect(view.name).toBe(name)
    const control = await connectQmp(join(view.home, 'run/qmp2.sock'), () => {})
    expect(await control.execute('query-name')).toEqual({ name })
    control.close()
  })

  test('an attached qcow2 image is opened without backing images, an own one with its layers', () => {
    const own = { path: 'disk1.qcow2', layers: ['/first', '/second'] }
    const disks = [{ path: '/images/disk.qcow2' }, own].map(disk => ({ ...disk, size: 1, format: 'qcow2' as const }))
    const [id, created_at] = [crypto.randomUUID(), '']
    const definition = { id, name: 'n', description: '', cpus: 1, memory: 16, disks, networks: [], created_at }
    const args = buildQemuArguments(definition, 'tcg')
    const nodes = args.flatMap((flag, at) => (flag === '-blockdev' ? [JSON.parse(args[at + 1]!)] : []))
    const lowest = { driver: 'qcow2', file: { filename: '/second' }, backing: null }
    expect(nodes).toMatchObject([
      { driver: 'qcow2', backing: null },
      { driver: 'qcow2', backing: { driver: 'qcow2', file: { filename: '/first' }, backing: lowest } },
    ])
  })

  test('a disk of a machine that builds on any other file of the host is not opened', async () => {
    const { id, home } = await driver.createDemo()
    const rebase = ['rebase', '-u', '-f', 'qcow2', '-F', 'raw', '-b', '/etc/passwd', join(home, 'disk0.qcow2')]
    expect((await runProcess('qemu-img', rebase, { timeout: patience })).code).toBe(0)
    await expect(run(id, 'start')).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining('builds on /etc/passwd'),
    })
  })

  test('paths of disks and kernels are one value each on the command line', () => {
    const path = '/a,b"c\n-S /x,readonly=on'
    const args = buildQemuArguments(
      {
        id: crypto.randomUUID(),
        name: 'n',
        description: '',
        cpus: 1,
        memory: 16,
        disks: [{ path, size: 1, format: 'raw' }],
        networks: [],
        kernel: path,
        created_at: '',
      },
      'tcg',
    )
    expect(args[args.indexOf('-kernel') + 1]).toBe(path)
    expect(JSON.parse(args[args.indexOf('-blockdev') + 1]!)).toMatchObject({ file: { filename: path } })
  })

  test('an early press of the power button is pressed again', async () => {
    const path = join(folder, 'early.img')
    buildBootSectorDisk(path)
    const { id } = await driver.create({ name: 'early', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    await run(id, 'start')
    expect((await run(id, 'stop')).state).toBe('stopped')
  })

  test('a linked clone shares what was and counts apart; the source goes on', async () => {
    const demo = await driver.createDemo()
    await run(demo.id, 'start')
    await waitForOutput(demo.id, 'BOOT 00000001')
    await run(demo.id, 'stop')
    const deadline = AbortSignal.timeout(patience)
    const clone = await driver.clone(demo.id, 'linked', { linked: true, deadline, onProgress: () => {} })
    expect(clone.definition.base).toBe(demo.id)
    for (const { id } of [demo, clone]) {
      await run(id, 'start')
      await waitForOutput(id, 'BOOT 00000002')
      await run(id, 'stop')
    }
    const full = await driver.clone(clone.id, 'full', { linked: false, deadline, onProgress: () => {} })
    expect(full.definition.base).toBeUndefined()
    await driver.remove(clone.id)
    await run(full.id, 'start')
    await waitForOutput(full.id, 'BOOT 00000003')
    await run(full.id, 'stop')
    const raw = join(folder, 'raw.img')
    await runProcess('qemu-img', ['convert', '-O', 'raw', join(full.home, 'disk0.qcow2'), raw], { timeout: patience })
    expect(bootCount(await readFile(raw))).toBe(3)
  })

  test('a linked clone of a disk that cannot be shared is refused, and says what to do', async () => {
    const path = join(folder, 'attached.img')
    buildBootSectorDisk(path)
    const { id } = await driver.create({ name: 'attached', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    const how = { deadline: AbortSignal.timeout(patience), onProgress: () => {} }
    await expect(driver.clone(id, 'linked', { linked: true, ...how })).rejects.toMatchObject({
      fault: 'unsupported',
      message: expect.stringMatching(/attached are unsupported.*attached\.img.*clone it in full/is),
    })
    expect(await driver.list()).toHaveLength(1)
    const copy = await driver.clone(id, 'copy', { linked: false, ...how })
    expect((await driver.clone(copy.id, 'linked', { linked: true, ...how })).definition.base).toBe(copy.id)
  })

  test.for([
    ['disks and kernel', {}, 'nothing to boot from'],
    ['a kernel, with a command line', { disks: [{ size: 1 }], cmdline: 'quiet' }, 'cmdline'],
    ['a kernel, with an initial RAM disk', { disks: [{ size: 1 }], initrd: '/boot/initrd' }, 'initrd'],
  ] as const)('a machine without %s is refused by name', async ([, parts, named]) => {
    const machine = { name: 'bad', description: '', cpus: 1, memory: 16, disks: [], ...parts }
    await expect(driver.create(machine)).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringContaining(named),
    })
    expect(await driver.list()).toEqual([])
  })

  test('a clone that runs out of time leaves nothing behind', async () => {
    const demo = await driver.createDemo()
    const deadline = AbortSignal.abort(new Error('time is up'))
    await expect(driver.clone(demo.id, 'late', { linked: false, deadline, onProgress: () => {} })).rejects.toThrow(
      'time is up',
    )
    expect(await readdir(join(folder, 'machines'))).toEqual([demo.id])
    expect(await driver.list()).toHaveLength(1)
  })

  test.for([
    ['is not there', '/nowhere/x.img', 'invalid'],
    ['is a folder', tmpdir(), 'invalid'],
    ['is a device', '/dev/zero', 'forbidden'],
  ] as const)('a disk that %s is refused and no machine is created', async ([, path, fault]) => {
    await expect(
      driver.create({ name: 'bad', description: '', cpus: 1, memory: 16, disks: [{ path }] }),
    ).rejects.toMatchObject({ fault })
    expect(await driver.list()).toEqual([])
  })

  test('an image with a backing image is refused, since QEMU would open files that the request does not name', async () => {
    const path = join(folder, 'overlay.qcow2')
    await runProcess('qemu-img', ['create', '-f', 'qcow2', '-F', 'raw', '-b', '/etc/passwd', path], {
      timeout: patience,
    })
    await expect(
      driver.create({ name: 'bad', description: '', cpus: 1, memory: 16, disks: [{ path }] }),
    ).rejects.toMatchObject({ fault: 'invalid', message: expect.stringContaining('builds on another image') })
  })

  test('the deletion of a machine keeps the images that it used in place', async () => {
    const path = join(folder, 'kept.img')
    buildBootSectorDisk(path)
    const { id } = await driver.create({ name: 'user', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    await driver.remove(id)
    expect(existsSync(path)).toBe(true)
    expect(await readdir(join(folder, 'machines'))).toEqual([])
  })

  test('a forced stop kills a QEMU that does not answer', async () => {
    const view = await bootMachine()
    const pid = await readPid(view)
    await driver.close()
    process.kill(pid, 'SIGSTOP')
    await open()
    expect((await get(view.id)).problem).toContain('does not answer')
    expect(await run(view.id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
    // Its parent, which is not this process, may still have to take its exit code.
    await until(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))
  })

  test('a new driver reattaches twenty running machines concurrently', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, (_, at) => bootMachine(`m${at}`)))
    await driver.close()
    await open()
    const states = (await driver.list()).map(view => view.state)
    expect(states).toEqual(made.map(() => 'running'))
  })

  test('a control socket held by another program is shown as a problem, and the machine stays usable', async () => {
    const view = await bootMachine()
    await driver.close()
    const holder = connect(join(view.home, 'run/qmp.sock'))
    await new Promise(resolve => holder.once('data', resolve))
    await open()
    expect((await get(view.id)).problem).toContain('does not answer')
    expect((await get(view.id)).state).toBe('running')
    await expect(run(view.id, 'pause')).rejects.toMatchObject({ fault: 'unavailable' })
    expect((await get(view.id)).state).toBe('running')
    holder.destroy()
    expect(await run(view.id, 'pause')).toMatchObject({ state: 'paused' })
    expect((await get(view.id)).problem).toBeUndefined()
  })
})
