import { execFileSync, spawn } from 'node:child_process'
import {
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  mkdirSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { newFolder } from '../../support/folder.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { until } from '../../support/waiting.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'what a QEMU that was taken over left', () => {
  let folder: ReturnType<typeof newFolder>
  let driver: HypervisorDriver
  let demo: MachineView
  const how = () => ({ force: true, deadline: AbortSignal.timeout(60_000) })
  const copying = { deadline: new AbortController().signal, onProgress: (): void => {} }

  beforeEach(async () => {
    folder = newFolder()
    driver = await createQemu(join(folder.path, 'machines'))
    await driver.open(() => {})
    demo = await driver.createDemo()
  })
  afterEach(async () => {
    for (const { id } of await driver.list()) await driver.run(id, 'stop', how())
    await driver.close()
    folder[Symbol.dispose]()
  })

  const pidOf = ({ home }: MachineView): number => Number(readFileSync(join(home, 'qemu.pid'), 'utf8'))
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const reopen = async (): Promise<void> => {
    await driver.close()
    driver = await createQemu(join(folder.path, 'machines'))
    await driver.open(() => {})
  }

  test('what it does to its own folder neither hides its process nor holds anybody up', async () => {
    await driver.run(demo.id, 'start', how())
    const pid = pidOf(demo)
    execFileSync('mkfifo', [join(demo.home, 'run/pid')])
    await reopen()
    expect((await driver.get(demo.id))?.state).toBe('running')
    process.kill(pid, 'SIGKILL')
    await until(async () => expect((await driver.get(demo.id))?.state).toBe('stopped'))
    expect((await driver.run(demo.id, 'start', how())).state).toBe('running')
    expect((await driver.run(demo.id, 'stop', how())).state).toBe('stopped')
  })

  test('one from before an upgrade is found by the file of then, and is the only process that this names', async () => {
    await driver.run(demo.id, 'start', how())
    const pid = pidOf(demo)
    const former = join(demo.home, 'run/pid')
    renameSync(join(demo.home, 'qemu.pid'), former)
    await reopen()
    expect((await driver.get(demo.id))?.state).toBe('running')
    expect(pidOf(demo)).toBe(pid)
    expect((await driver.run(demo.id, 'stop', how())).state).toBe('stopped')
    await until(() => expect(isAlive(pid)).toBe(false))

    // It names the machine as its QEMU does, and is somewhere else.
    const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 2e6)', '--', '-uuid', demo.id, 'other'])
    writeFileSync(former, String(other.pid))
    await reopen()
    expect((await driver.get(demo.id))?.state).toBe('stopped')
    await driver.run(demo.id, 'stop', how())
    await driver.remove(demo.id)
    expect(isAlive(other.pid!)).toBe(true)
    other.kill()
  })

  test('a link to the control socket of another machine leads to no other machine', async () => {
    const other = await driver.clone(demo.id, 'other', { linked: false, ...copying })
    for (const { id } of [demo, other]) await driver.run(id, 'start', how())
    const [pid, otherPid] = [pidOf(demo), pidOf(other)]
    const socket = join(demo.home, 'run/qmp.sock')
    await driver.close()
    rmSync(socket)
    symlinkSync(join(other.home, 'run/qmp2.sock'), socket)
    await reopen()
    expect(await driver.get(demo.id)).toMatchObject({ problem: expect.stringContaining('that of another machine') })
    await expect(driver.run(demo.id, 'pause', how())).rejects.toMatchObject({ fault: 'unavailable' })
    expect((await driver.run(demo.id, 'stop', how())).state).toBe('stopped')
    expect([pid, otherPid].map(isAlive)).toEqual([false, true])
    expect((await driver.get(other.id))?.state).toBe('running')
    await driver.run(other.id, 'stop', how())
  })

  /** Writes the name of the image that the demo's disk builds on anew, byte for byte. */
  const nameBacking = (name: Buffer): void => {
    const file = openSync(join(demo.home, 'disk0.qcow2'), 'r+')
    const header = Buffer.alloc(20)
    readSync(file, header, 0, 20, 0)
    writeSync(file, name, 0, name.length, Number(header.readBigUInt64BE(8)))
    header.writeUInt32BE(name.length, 16)
    writeSync(file, header, 16, 4, 16)
  }

  test.for([
    [
      'ends before its end',
      (base: string, secret: string) => `${secret}\0/${'../'.repeat(secret.split('/').length)}..${base}`,
    ],
    ['is an address', (base: string) => `nbd://host/../..${base}`],
    [
      'leads through a link',
      (base: string, _: string, link: string) => join(link, base.slice(base.lastIndexOf('/') + 1)),
    ],
    ['goes up', (base: string) => `${dirname(base)}/run/..${base.slice(base.lastIndexOf('/'))}`],
  ] as const)('a name of a backing image that %s is not read', async ([, nameOf]) => {
    await driver.clone(demo.id, 'first', { linked: true, ...copying })
    const base = join(
      demo.home,
      readdirSync(demo.home).find(name => name.startsWith('base-'))!,
    )
    const secret = join(folder.path, 'secret')
    writeFileSync(secret, 'secret'.repeat(100_000))
    mkdirSync(join(demo.home, 'run'), { recursive: true })
    const link = join(dirname(demo.home), 'link')
    symlinkSync(demo.home, link)
    nameBacking(Buffer.from(nameOf(base, secret, link)))
    for (const linked of [true, false])
      await expect(driver.clone(demo.id, 'second', { linked, ...copying })).rejects.toMatchObject({
        fault: 'conflict',
        message: expect.stringContaining('no base of a linked clone'),
      })
    await expect(driver.run(demo.id, 'start', how())).rejects.toMatchObject({ fault: 'conflict' })
  })
  test('a name that comes into a header after it was judged is not read', async () => {
    await driver.clone(demo.id, 'first', { linked: true, ...copying })
    const qemuImg = (...args: string[]): void => void execFileSync('qemu-img', args)
    const [text, secret] = [join(folder.path, 'secret.txt'), join(folder.path, 'secret.qcow2')]
    writeFileSync(text, 'secret'.repeat(200_000))
    qemuImg('convert', '-f', 'raw', '-O', 'qcow2', text, secret)
    // What stands between the judgement and the reading: the header is written when qemu-img is started.
    const changed = join(folder.path, 'changed')
    copyFileSync(join(demo.home, 'disk0.qcow2'), changed)
    qemuImg('rebase', '-u', '-f', 'qcow2', '-F', 'qcow2', '-b', secret, changed)
    const program = join(folder.path, 'qemu-img')
    const disk = join(demo.home, 'disk0.qcow2')
    writeFileSync(program, `#!/bin/sh\ncat '${changed}' > '${disk}'\nexec qemu-img "$@"\n`, { mode: 0o755 })
    await driver.close()
    driver = await createQemu(join(folder.path, 'machines'), { programs: { ...(await findQemu())!, img: program } })
    await driver.open(() => {})
    const clone = await driver.clone(demo.id, 'second', { linked: false, ...copying })
    expect(readFileSync(disk)).toEqual(readFileSync(changed))
    const raw = join(folder.path, 'raw')
    qemuImg('convert', '-f', 'qcow2', '-O', 'raw', join(clone.home, 'disk0.qcow2'), raw)
    expect(readFileSync(raw, 'latin1')).not.toContain('secret')
  })
})
