import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import type { LeasedImage } from '#lib/machines/images/leased-image.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { openFile } from '#lib/platform/open-file.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { newEventLog } from '../../support/events.ts'
import { getSmallLinux, withoutLinux } from '../../support/guests/linux.ts'
import { runOnSerialLine, waitForSerial } from '../../support/guests/serial-shell.ts'
import { host } from '../../support/harness.ts'
import { until } from '../../support/waiting.ts'

const reason = withoutQemu ? 'QEMU is not installed' : withoutLinux
const MB = 2 ** 20
const digests = { disk: 'd'.repeat(64), iso: 'c'.repeat(64) }

describe.skipIf(reason !== undefined)(reason ?? 'registered images in machines on QEMU', () => {
  let folder: string
  let driver: HypervisorDriver
  let machines: Machines
  let leases: number

  const findFile = (digest: string): string =>
    join(folder, 'images', `${digest}.${digest === digests.iso ? 'iso' : 'qcow2'}`)
  const leaseImage = async (reference: string): Promise<LeasedImage> => {
    if (reference !== 'disk' && reference !== 'iso') throw new ServiceError('not-found', `There is no ${reference}.`)
    leases += 1
    const kind: LeasedImage['image']['kind'] = reference
    return {
      image: { name: kind, kind, digest: digests[kind], virtual_size: 4 * MB },
      [Symbol.dispose]: () => void (leases -= 1),
    }
  }
  beforeEach(async () => {
    leases = 0
    folder = await mkdtemp(join(tmpdir(), 'vmhost-qemu-images-'))
    mkdirSync(join(folder, 'images'))
    writeFileSync(join(folder, 'raw'), 'contents of a disk'.padEnd(4 * MB, '\0'))
    execFileSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', join(folder, 'raw'), findFile(digests.disk)])
    writeFileSync(findFile(digests.iso), 'contents of a disc'.padEnd(4096))
    driver = await createQemu(join(folder, 'machines'), { openImage: digest => openFile(findFile(digest)) })
    machines = await openMachines({ driver, host, leaseImage, stopTimeout: 20_000, ...(await newEventLog()) })
  })
  afterEach(async () => {
    for (const { id } of await driver.list()) await machines.remove(id, { force: true }).catch(() => {})
    await machines.close()
    await rm(folder, { recursive: true })
  })

  const view = async (id: string): Promise<MachineView> => (await driver.get(id))!
  const untilRun = (id: string, command: string, expected: string): Promise<void> =>
    until(async () => expect((await runOnSerialLine(await view(id), command)).output).toBe(expected))
  const set = (id: string, operation: string, value: string, options: Readonly<Record<string, string>> = {}) => {
    const listed = Object.entries(options).map(([flag, text]) => ({ flag, value: text }))
    const operations = [{ group: 'device', operation, value, options: listed, flags: [] }]
    return machines.set(id, { operations }, { dryRun: false })
  }

  test('are disks and CD-ROMs from the start, and while the guest runs', async () => {
    const { kernel, initrd, cmdline } = getSmallLinux()
    const base = { name: 'linux', description: '', cpus: 1, memory: 128, kernel, initrd, cmdline }
    const { id } = await machines.create({ ...base, image: 'disk', disks: [], cdroms: [{ image: 'iso' }, {}] })
    const before = readFileSync(findFile(digests.disk))
    await machines.run(id, 'start')
    await waitForSerial(await view(id), /GUEST:READY/)
    await untilRun(id, 'head -c 18 /dev/vda', 'contents of a disk')
    await untilRun(id, 'head -c 18 /dev/sr0', 'contents of a disc')

    await set(id, 'set', 'cdrom1', { image: 'iso' })
    await untilRun(id, 'head -c 18 /dev/sr1', 'contents of a disc')
    await set(id, 'disconnect', 'cdrom0')
    await set(id, 'add', 'hdd', { image: 'disk', size: '16' })
    await untilRun(id, 'cat /sys/block/vdb/size', '32768')
    await untilRun(id, 'head -c 18 /dev/vdb', 'contents of a disk')
    await untilRun(id, 'printf changed | dd of=/dev/vdb conv=fsync 2>/dev/null; head -c 7 /dev/vdb', 'changed')
    const copy = await machines.clone(id, 'copy', { linked: false })
    expect((await view(copy)).definition.disks.map(({ image }) => image)).toEqual([undefined, undefined])
    // A disk that was removed needs its image too, since it can be added again.
    await set(id, 'remove', 'hdd1')
    const { definition } = await view(id)
    expect(definition).toMatchObject({
      disks: [{ image: digests.disk, size: 4 * MB }],
      detached_disks: [{ image: digests.disk, size: 16 * MB }],
      cdroms: [{ name: 'cdrom0' }, { name: 'cdrom1', image: digests.iso }],
    })
    expect(machines.listImageUsers(digests.disk)).toEqual(['linux'])
    await set(id, 'add', 'hdd', { image: definition.detached_disks![0]!.path })
    await untilRun(id, 'head -c 7 /dev/vdb', 'changed')
    expect([leases, before.equals(readFileSync(findFile(digests.disk)))]).toEqual([0, true])
  })

  test('are refused where they do not fit', async () => {
    const base = { name: 'm', description: '', cpus: 1, memory: 16, disks: [{ size: 1 }] }
    const { id } = await machines.create(base)
    const reject = (work: Promise<unknown>, message: RegExp) => expect(work).rejects.toThrow(message)
    await reject(machines.create({ ...base, name: 'n', cdroms: [{ image: 'disk' }] }), /cdroms.0: disk is the image of/)
    await reject(
      machines.create({ ...base, name: 'n', cdroms: [{ image: 'iso', path: '/a' }] }),
      /cdroms.0: has a path and/,
    )
    await reject(machines.create({ ...base, name: 'n', disks: [{ image: 'iso' }] }), /disks.0: iso is an ISO image/)
    await reject(set(id, 'add', 'hdd', { image: 'iso' }), /image: iso is an ISO image/)
    await reject(set(id, 'add', 'hdd', { image: 'disk', size: '1' }), /smaller than the image disk/)
    await reject(set(id, 'add', 'cdrom', { image: 'disk' }), /image: disk is the image of a disk/)
    await reject(set(id, 'add', 'hdd', { image: '../../other' }), /There is no/)
    expect(leases).toBe(0)
  })
})
