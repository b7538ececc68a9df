import { describe, expect, test } from 'vitest'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { getSmallLinux, withoutLinux } from '../../support/guests/linux.ts'
import { runOnSerialLine, waitForSerial } from '../../support/guests/serial-shell.ts'
import { newPublicKey } from '../../support/public-key.ts'

const missing = withoutQemu ? 'QEMU is not installed' : withoutLinux
const boot = (): object => (({ kernel, initrd, cmdline }) => ({ kernel, initrd, cmdline }))(getSmallLinux())
const key = newPublicKey()
const seed = {
  user_data: `#cloud-config\nwrite_files: [{ path: /etc/motd, content: "${'Grüße '.repeat(1000)}" }]\n`,
  ssh_keys: [key],
  network_config: 'version: 2\nethernets: { eth0: { dhcp4: true } }\n',
}

/** Reads the files of the volume `cidata` as the guest finds it. */
const readSeed = async (machine: MachineView): Promise<Record<string, string>> => {
  await waitForSerial(machine, /GUEST:READY/)
  const run = async (command: string): Promise<string> => (await runOnSerialLine(machine, command)).output
  await run('mount -t iso9660 -o ro /dev/sr0 /mnt')
  const names = (await run('ls /mnt')).split(/\s+/)
  const files: Record<string, string> = {}
  for (const name of names)
    files[name] = Buffer.from((await run(`base64 /mnt/${name}`)).replaceAll('\n', ''), 'base64').toString()
  return files
}

describe.skipIf(missing !== undefined)(missing ?? 'the seed of a machine', () => {
  test('is a CD-ROM that the guest reads; a clone has its own; an export has none', async () => {
    await using bench = await openQemuBench()
    const { driver } = bench
    const create = { description: '', cpus: 1, memory: 128, disks: [{ size: 16 }], ...boot() }
    const { id } = await driver.create({ name: 'first', ...create, seed })
    const first = await bench.run(id, 'start')
    expect(await readSeed(first)).toEqual({
      'meta-data': `${JSON.stringify({ 'instance-id': id, 'local-hostname': 'first', 'public-keys': [key] }, undefined, 2)}\n`,
      'user-data': seed.user_data,
      'network-config': seed.network_config,
    })
    // Suspended memory knows the CD-ROM; the guest still reads it after the resume.
    await bench.run(id, 'suspend')
    await bench.run(id, 'resume')
    expect(await runOnSerialLine(first, 'umount /mnt; mount -t iso9660 /dev/sr0 /mnt; ls /mnt | wc -l')).toMatchObject({
      output: expect.stringMatching(/3$/),
    })
    await bench.run(id, 'stop', { force: true })
    const how = { deadline: AbortSignal.timeout(60_000), onProgress: () => {} }
    await using exported = await driver.export(id, { staging: bench.folder, ...how })
    expect(exported.files.map(({ name }) => name)).toEqual(['machine.json', 'disk0.qcow2', 'kernel.bin', 'initrd.bin'])

    const clone = await bench.run((await driver.clone(id, 'a copy', { linked: false, ...how })).id, 'start')
    const cloned = await readSeed(clone)
    // This name can be no host name.
    expect(JSON.parse(cloned['meta-data']!)).toEqual({ 'instance-id': clone.id, 'public-keys': [key] })
    expect(cloned['user-data']).toBe(seed.user_data)
  })

  test('has a user-data that says nothing where only a host name is given', async () => {
    await using bench = await openQemuBench()
    const create = { name: 'named', description: '', cpus: 1, memory: 128, disks: [], ...boot() }
    const { id } = await bench.driver.create({ ...create, seed: { hostname: 'web-1.example.org' } })
    expect(await readSeed(await bench.run(id, 'start'))).toEqual({
      'meta-data': expect.stringContaining('"local-hostname": "web-1.example.org"'),
      'user-data': '#cloud-config\n{}\n',
    })
  })
})
