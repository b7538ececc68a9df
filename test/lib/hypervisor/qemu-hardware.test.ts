import { mkdirSync, writeFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { connectQmp } from '#lib/hypervisor/qemu/qmp.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { newEventLog } from '../../support/events.ts'
import { buildBootSectorDisk } from '../../support/guests/boot-sector.ts'
import { getSmallLinux, withoutLinux } from '../../support/guests/linux.ts'
import { runOnSerialLine, waitForSerial } from '../../support/guests/serial-shell.ts'
import { host } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'
import { refuseImage } from '../../support/images.ts'

const reason = withoutQemu ? 'QEMU is not installed' : withoutLinux

describe.skipIf(reason !== undefined)(reason ?? 'the hardware of machines on QEMU', () => {
  let folder: string
  let driver: HypervisorDriver
  let machines: Machines

  const open = async (): Promise<void> => {
    driver = await createQemu(join(folder, 'machines'))
    machines = await openMachines({
      driver,
      host,
      leaseImage: refuseImage,
      stopTimeout: 20_000,
      ...(await newEventLog()),
    })
  }
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-hardware-'))
    await open()
  })
  afterEach(async () => {
    for (const { id } of await driver.list()) await machines.remove(id, { force: true }).catch(() => {})
    await machines.close()
    await rm(folder, { recursive: true })
  })

  type Request = Parameters<Machines['create']>[0]
  const view = async (id: string): Promise<MachineView> => (await driver.get(id))!
  const createLinux = async (more: Partial<Request> = {}): Promise<string> => {
    const { kernel, initrd, cmdline } = getSmallLinux()
    const base = { name: 'linux', description: '', cpus: 1, memory: 128, disks: [], kernel, initrd, cmdline }
    return (await machines.create({ ...base, ...more })).id
  }
  const startLinux = async (more?: Partial<Request>): Promise<string> => {
    const id = await createLinux(more)
    await machines.run(id, 'start')
    await waitForSerial(await view(id), /GUEST:READY/)
    return id
  }
  const run = async (id: string, command: string): Promise<string> =>
    (await runOnSerialLine(await view(id), command)).output
  const set = (
    id: string,
    group: string,
    operation: string,
    value: string,
    options: Readonly<Record<string, string>> = {},
    flags: string[] = [],
  ) =>
    machines.set(
      id,
      {
        operations: [
          {
            group,
            operation,
            value,
            options: Object.entries(options).map(([flag, text]) => ({ flag, value: text })),
            flags,
          },
        ],
      },
      { dryRun: false },
    )
  /** Runs a command in the guest until it prints the expected text. */
  const untilRun = (id: string, command: string, expected: string): Promise<void> =>
    until(async () => expect(await run(id, command)).toBe(expected))

  test('disks, cards and CD-ROMs are added to a running guest and removed; it suspends and resumes with them', async () => {
    const id = await startLinux({ disks: [{ size: 8 }] })
    const iso = join(folder, 'disc.iso')
    writeFileSync(iso, 'contents of a disc'.padEnd(4096))
    await untilRun(id, 'cat /sys/block/vda/size', '16384')

    await set(id, 'device', 'add', 'hdd', { size: '16' })
    await untilRun(id, 'cat /sys/block/vdb/size', '32768')
    await set(id, 'device', 'set', 'hdd1', { size: '32' })
    await untilRun(id, 'cat /sys/block/vdb/size', '65536')
    await set(id, 'device', 'add', 'net')
    await untilRun(id, 'ls /sys/class/net | grep -c eth', '2')
    await set(id, 'device', 'add', 'cdrom', { path: iso })
    await untilRun(id, 'head -c 18 /dev/sr0', 'contents of a disc')
    expect((await view(id)).definition).toMatchObject({
      disks: [
        { name: 'hdd0', port: 0 },
        { name: 'hdd1', port: 2, size: 32 * 2 ** 20 },
      ],
      networks: [
        { name: 'net0', port: 1 },
        { name: 'net1', port: 3 },
      ],
      cdroms: [{ name: 'cdrom0', path: iso }],
    })

    await run(id, 'echo kept > /tmp/file; echo written > /dev/vdb; sync')
    await machines.run(id, 'suspend')
    await machines.run(id, 'resume')
    expect(await run(id, 'cat /tmp/file; head -c 7 /dev/vdb')).toBe('kept\nwritten')

    await set(id, 'device', 'disconnect', 'cdrom0')
    await untilRun(id, 'head -c 18 /dev/sr0 2>/dev/null | wc -c', '0')
    await set(id, 'device', 'remove', 'cdrom0')
    await set(id, 'device', 'remove', 'net1')
    await set(id, 'device', 'remove', 'hdd1')
    await untilRun(id, 'ls -d /sys/block/vdb /sys/class/net/eth1 /dev/sr0 2>/dev/null | wc -l', '0')
    const { definition } = await view(id)
    expect(definition).toMatchObject({ disks: [{ name: 'hdd0' }], networks: [{ name: 'net0' }], cdroms: [] })

    const [detached] = definition.detached_disks!
    await set(id, 'device', 'add', 'hdd', { image: detached!.path })
    await untilRun(id, 'head -c 7 /dev/vdb', 'written')
  })

  test('CPUs and memory are added to a running guest, which suspends and resumes with them', async () => {
    const id = await startLinux({ memory: 256, max_cpus: 4, max_memory: 512 })
    await set(id, 'cpu', 'set', '2')
    await untilRun(id, 'nproc', '2')
    await set(id, 'memory', 'set', '384')
    const readMemory = async (): Promise<number> =>
      Number((await run(id, 'grep MemTotal /proc/meminfo')).replace(/\D+/g, ''))
    await until(async () => expect(await readMemory()).toBeGreaterThan(250_000))
    await machines.run(id, 'suspend')
    await machines.run(id, 'resume')
    expect(await run(id, 'nproc')).toBe('2')
    await machines.run(id, 'stop', { force: true })
    await machines.run(id, 'start')
    expect((await view(id)).definition).toMatchObject({ cpus: 2, memory: 384 })
    await expect(set(id, 'cpu', 'set', '5')).rejects.toMatchObject({ fault: 'conflict' })
    await expect(set(id, 'memory', 'set', '400')).rejects.toMatchObject({ fault: 'invalid' })
  })

  test('a guest that keeps a disk keeps it in the record too, and what was added with it is taken back', async () => {
    const path = join(folder, 'boot.img')
    buildBootSectorDisk(path)
    const { id } = await machines.create({ name: 'stubborn', description: '', cpus: 1, memory: 32, disks: [{ path }] })
    await machines.run(id, 'start')
    const before = (await view(id)).definition
    const operations = [
      { group: 'device', operation: 'add', value: 'net', options: [], flags: [] },
      { group: 'device', operation: 'remove', value: 'hdd0', options: [], flags: [] },
    ]
    await expect(machines.set(id, { operations }, { dryRun: false })).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining('does not release hdd0'),
    })
    expect((await view(id)).definition).toEqual(before)
    await machines.run(id, 'suspend')
    await machines.run(id, 'resume')
    await expect(set(id, 'memory', 'set', '64')).rejects.toMatchObject({ fault: 'conflict' })
    await expect(set(id, 'device', 'remove', 'hdd7')).rejects.toMatchObject({ fault: 'invalid' })
    expect(await machines.measure()).toMatchObject([{ id, diskBytesRead: expect.any(Number) }])
    // As if the service had been killed between the change of QEMU and that of the definition.
    const qmp = await connectQmp(join((await view(id)).home, 'run/qmp2.sock'), () => {})
    await qmp.execute('device_add', { driver: 'scsi-cd', id: 'cdrom0', bus: 'scsi0.0' })
    qmp.close()
    await expect(machines.run(id, 'suspend')).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining('cdrom0'),
    })
    expect((await view(id)).state).toBe('running')
  })

  test('a guest starts with UEFI, has a screen, and mounts a folder of the host', async () => {
    const [shared, written] = [join(folder, 'shared'), join(folder, 'written')]
    for (const path of [shared, written]) mkdirSync(path)
    writeFileSync(join(shared, 'file'), 'of the host')
    const { kernelImage } = getSmallLinux()
    const id = await startLinux({
      kernel: kernelImage,
      memory: 256,
      firmware: 'uefi',
      display: true,
      shared_folders: [
        { name: 'data', path: shared, mode: 'ro', enabled: true, description: '' },
        { name: 'out', path: written, mode: 'rw', enabled: true, description: '' },
      ],
    })
    const mount = 'mkdir -p /mnt/data && mount -t 9p -o trans=virtio,version=9p2000.L data /mnt/data'
    expect(await run(id, `ls -d /sys/firmware/efi; ${mount}; cat /mnt/data/file`)).toBe(
      '/sys/firmware/efi\nof the host',
    )
    expect((await runOnSerialLine(await view(id), 'echo x > /mnt/data/file')).exitCode).not.toBe(0)
    // Where QEMU is root the guest sees what it has made, and the host has no program that gives its users the rights of root.
    const mountOut = 'mkdir -p /mnt/out && mount -t 9p -o trans=virtio,version=9p2000.L out /mnt/out'
    expect(
      await run(id, `${mountOut}; cp /bin/busybox /mnt/out/su; chmod 4755 /mnt/out/su; stat -c %a /mnt/out/su`),
    ).toBe('4755')
    if (process.getuid?.() === 0) expect(statSync(join(written, 'su')).mode & 0o7000).toBe(0)
    await expect(machines.run(id, 'suspend')).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringContaining('data'),
    })
    expect(machines.show(id)).toMatchObject({
      'BIOS type': 'efi',
      Hardware: { video: { 'adapter-type': 'VGA' } },
      'Host Shared Folders': { data: { path: shared, mode: 'ro', enabled: true }, out: { path: written } },
    })
    await machines.run(id, 'stop', { force: true })
    const clone = await machines.clone(id, 'copy', { linked: false })
    // Without variables of its own it would not start.
    await machines.run(clone, 'start')
    expect((await view(clone)).state).toBe('running')
  })
})
