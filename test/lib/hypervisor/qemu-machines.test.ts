import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bootCount } from '#lib/hypervisor/guest/guest.ts'
import type { HypervisorDriver, MachineView, Seen, Verb } from '#lib/hypervisor/driver.ts'
import { qemuArguments } from '#lib/hypervisor/qemu/arguments.ts'
import { createQemuDriver } from '#lib/hypervisor/qemu/driver.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { connectQmp } from '#lib/hypervisor/qemu/qmp.ts'
import { logOf } from '#lib/platform/log.ts'
import { runProcess } from '#lib/platform/processes.ts'
import { buildBootSectorDisk } from '../../support/boot-sector.ts'
import { withoutQemu } from '../../support/qemu.ts'
import { serialOf, typeInto } from '../../support/serial.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'machines on QEMU', () => {
  let folder: string
  let driver: HypervisorDriver
  let seen: Seen[]

  const open = async (root = join(folder, 'machines')): Promise<void> => {
    driver = await createQemuDriver({ folder: root, programs: (await findQemu())!, log: logOf('test') })
    seen = []
    await driver.open(what => void seen.push(what))
  }
  const run = (id: string, verb: Verb, { force = false, limit = 10_000 } = {}): Promise<MachineView> =>
    driver.run(id, verb, { force, deadline: AbortSignal.timeout(limit) })
  const get = async (id: string): Promise<MachineView> => (await driver.get(id))!
  const until = async (what: string, holds: () => boolean | Promise<boolean>, limit = 10_000): Promise<void> => {
    const end = Date.now() + limit
    while (!(await holds())) {
      if (Date.now() > end) throw new Error(`${what} did not come within ${limit} ms`)
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  }
  const says = (id: string, text: string | RegExp): Promise<void> =>
    until(String(text), async () => new RegExp(text).test(await serialOf(await get(id))))
  const booting = async (name = 'one'): Promise<MachineView> => {
    const path = join(folder, `${crypto.randomUUID()}.img`)
    buildBootSectorDisk(path)
    const { id } = await driver.create({ name, description: '', cpus: 1, memory: 16, disks: [{ path }] })
    await run(id, 'start')
    await says(id, 'T 00000001')
    return get(id)
  }
  const pidOf = async ({ home }: MachineView): Promise<number> => Number(await readFile(join(home, 'run/pid'), 'utf8'))

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
    const view = await booting()
    const { id } = view
    await typeInto(view, 'q')
    await until('the end', () => seen.length > 0, 1_000)
    expect(seen).toMatchObject([{ cause: 'guest', view: { id, state: 'stopped' } }])
    expect((await get(id)).problem).toBeUndefined()
  })

  test.for([
    ['SIGKILL', 'crash', 'crashed'],
    ['SIGTERM', 'host', undefined],
  ] as const)('a QEMU that gets %s is told of as %s', async ([signal, cause, problem]) => {
    const view = await booting()
    process.kill(await pidOf(view), signal)
    await until('the end', () => seen.length > 0, 1_000)
    expect(seen).toMatchObject([{ cause, view: { state: 'stopped' } }])
    const now = await get(view.id)
    if (problem) expect(now.problem).toContain(problem)
    else expect(now.problem).toBeUndefined()
  })

  test('what somebody does with their own tool is seen', async () => {
    const view = await booting()
    const other = await connectQmp(join(view.home, 'run/qmp2.sock'), () => {})
    await other.execute('stop')
    await until('the pause', () => seen.length === 1)
    await other.execute('cont')
    await until('the resumption', () => seen.length === 2)
    other.close()
    expect(seen).toMatchObject([
      { cause: 'host', view: { state: 'paused' } },
      { cause: 'host', view: { state: 'running' } },
    ])
  })

  test('files that a dead QEMU left do not stop a start', async () => {
    const view = await booting()
    process.kill(await pidOf(view), 'SIGKILL')
    await until('the crash', async () => (await get(view.id)).state === 'stopped')
    await mkdir(join(view.home, 'run'), { recursive: true })
    // The pid of a process that lives and is no QEMU of ours.
    await writeFile(join(view.home, 'run/pid'), String(process.pid))
    await run(view.id, 'start')
    await says(view.id, 'BOOT 00000002')
  })

  test('a folder with a long path serves too', async () => {
    await driver.close()
    await open(join(folder, 'x'.repeat(120), 'machines'))
    const view = await booting()
    expect(join(view.home, 'run/qmp.sock').length).toBeGreaterThan(160)
    await run(view.id, 'pause')
    await driver.close()
    await open(join(folder, 'x'.repeat(120), 'machines'))
    expect((await get(view.id)).state).toBe('paused')
    await run(view.id, 'suspend')
    await run(view.id, 'resume')
    await run(view.id, 'stop')
  })

  test('a name cannot say anything to QEMU but itself', async () => {
    const name = 'a,b=c "d" \'e\' $(f) é, -S,process=x'
    const view = await booting(name)
    expect(view.name).toBe(name)
    const control = await connectQmp(join(view.home, 'run/qmp2.sock'), () => {})
    expect(await control.execute('query-name')).toEqual({ name })
    control.close()
  })

  test('paths of disks and kernels are one value each on the command line', () => {
    const path = '/a,b"c\n-S /x,readonly=on'
    const args = qemuArguments(
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
      false,
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
    await says(demo.id, 'BOOT 00000001')
    await run(demo.id, 'stop')
    const deadline = AbortSignal.timeout(10_000)
    const clone = await driver.clone(demo.id, 'linked', { linked: true, deadline, progress: () => {} })
    expect(clone.definition.base).toBe(demo.id)
    for (const { id } of [demo, clone]) {
      await run(id, 'start')
      await says(id, 'BOOT 00000002')
      await run(id, 'stop')
    }
    const full = await driver.clone(clone.id, 'full', { linked: false, deadline, progress: () => {} })
    expect(full.definition.base).toBeUndefined()
    await driver.remove(clone.id)
    await run(full.id, 'start')
    await says(full.id, 'BOOT 00000003')
    await run(full.id, 'stop')
    const raw = join(folder, 'raw.img')
    await runProcess('qemu-img', ['convert', '-O', 'raw', join(full.home, 'disk0.qcow2'), raw], { timeout: 10_000 })
    expect(bootCount(await readFile(raw))).toBe(3)
  })

  test('a clone that runs out of time leaves nothing behind', async () => {
    const demo = await driver.createDemo()
    const deadline = AbortSignal.abort(new Error('time is up'))
    await expect(driver.clone(demo.id, 'late', { linked: false, deadline, progress: () => {} })).rejects.toThrow(
      'time is up',
    )
    expect(await readdir(join(folder, 'machines'))).toEqual([demo.id])
    expect(await driver.list()).toHaveLength(1)
  })

  test.for([
    ['is not there', '/nowhere/x.img', 'invalid'],
    ['is a folder', tmpdir(), 'invalid'],
    ['is a device', '/dev/zero', 'invalid'],
  ] as const)('a disk that %s is refused and no machine is made', async ([, path, fault]) => {
    await expect(
      driver.create({ name: 'bad', description: '', cpus: 1, memory: 16, disks: [{ path }] }),
    ).rejects.toMatchObject({ fault })
    expect(await driver.list()).toEqual([])
  })

  test('an image that builds on another one is refused: it would open files that nobody named', async () => {
    const path = join(folder, 'overlay.qcow2')
    await runProcess('qemu-img', ['create', '-f', 'qcow2', '-F', 'raw', '-b', '/etc/passwd', path], { timeout: 10_000 })
    await expect(
      driver.create({ name: 'bad', description: '', cpus: 1, memory: 16, disks: [{ path }] }),
    ).rejects.toMatchObject({ fault: 'invalid', message: expect.stringContaining('/etc/passwd') })
  })

  test('deleting a machine leaves the images that it used in place', async () => {
    const path = join(folder, 'kept.img')
    buildBootSectorDisk(path)
    const { id } = await driver.create({ name: 'user', description: '', cpus: 1, memory: 16, disks: [{ path }] })
    await driver.remove(id)
    expect(existsSync(path)).toBe(true)
    expect(await readdir(join(folder, 'machines'))).toEqual([])
  })

  test('a QEMU that does not answer is ended by a forced stop', async () => {
    const view = await booting()
    const pid = await pidOf(view)
    await driver.close()
    process.kill(pid, 'SIGSTOP')
    await open()
    expect((await get(view.id)).problem).toContain('does not answer')
    expect(await run(view.id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  test('twenty machines are adopted at once', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, (_, at) => booting(`m${at}`)))
    await driver.close()
    await open()
    const states = (await driver.list()).map(view => view.state)
    expect(states).toEqual(made.map(() => 'running'))
  })

  test('the control socket being held by somebody is a problem that is shown, not a machine that is lost', async () => {
    const view = await booting()
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
