import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildIso } from '#lib/hypervisor/seed/iso9660.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newFolder } from '../support/folder.ts'
import { findDebian } from '../support/guests/debian.ts'
import { createPackage, testServiceInGuest } from '../support/guests/service-in-guest.ts'
import { createSshClient } from '../support/guests/ssh.ts'
import { openCountingServer } from '../support/network/counting-server.ts'
import { rangesOf, startFileServer } from '../support/servers/file-server.ts'
import { newState, rootPassword, startService } from '../support/service.ts'
import { signInElsewhere } from '../support/commands/sign-in-elsewhere.ts'
import { until } from '../support/waiting.ts'

const debian = withoutQemu ? 'QEMU is not installed' : await findDebian()
const missing = typeof debian === 'string' ? debian : undefined

const MB = 2 ** 20
/** Seconds for a command in a translated guest, in which Python alone takes ten to start. */
const commandTime = 600

const findFreePort = async (): Promise<number> => {
  await using server = await openCountingServer('127.0.0.1')
  return server.port
}

const describeDigest = (bytes: Uint8Array): string => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`

describe.skipIf(missing !== undefined)(missing ?? 'a real Debian, booted once', () => {
  test('is made of an image, reached by ssh, and takes commands, files, disks and the service itself', async () => {
    if (typeof debian === 'string') throw new Error(debian)
    using state = newState()
    using folder = newFolder()
    // Before the service runs: no connection survives a test that does nothing else for seconds.
    const packages = [createPackage('0.1.0'), createPackage('0.1.1')] as const
    await using server = await startFileServer()
    server.serve('/debian.qcow2', rangesOf(readFileSync(debian.disk)))
    const service = await startService({
      state: state.path,
      driver: 'qemu',
      env: {
        VMHOST_ROOT_PASSWORD: rootPassword,
        VMHOST_LISTEN: 'http://127.0.0.1:0',
        VMHOST_OUTGOING_ADDRESSES: '127.0.0.1',
        VMHOST_DEMO: 'off',
      },
    })
    const token = await service.signIn()
    const ask = async (method: string, path: string, body?: object, headers?: Record<string, string>) => {
      const reply = await service.call(method, `/api/v1${path}`, { token, body, ...(headers && { headers }) })
      expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
      return reply.body
    }
    const execute = async (command: string): Promise<string> => {
      const ended = await ask('PUT', '/machines/web/execute', { command, timeout: commandTime })
      expect(ended, command).toMatchObject({ exit_code: 0 })
      return ended.stdout
    }
    const changeDevice = (operation: string, value: string, options: Readonly<Record<string, string>> = {}) => {
      const listed = Object.entries(options).map(([flag, of]) => ({ flag, value: of }))
      return ask('PUT', '/machines/web/set', { operations: [{ group: 'device', operation, value, options: listed }] })
    }
    /** A file of the guest, over a connection of its own. */
    const sendFile = (method: string, path: string, body?: Buffer<ArrayBuffer>, headers = {}): Promise<Response> =>
      fetch(`${service.url}/api/v1/machines/web/files?path=${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream', ...headers },
        ...(body && { body }),
      })

    await ask('POST', '/images', { name: 'debian', url: `${server.url}/debian.qcow2` })
    const ssh = createSshClient(folder.path)
    const port = await findFreePort()
    const created = await ask(
      'POST',
      '/machines?until=ip',
      {
        name: 'web',
        image: 'debian',
        disk_size: 2048,
        memory: 512,
        hostname: 'web-1',
        ssh_keys: [ssh.publicKey],
        user_data: '#!/bin/sh\necho from the seed >/root/seeded\n',
        forwards: [{ host_port: port, guest_port: 22 }],
      },
      { prefer: 'wait=300' },
    )
    // A translated guest on a busy host needs longer than a request may wait.
    expect(['met', 'timeout']).toContain(created.until)
    const waitForAddress = () =>
      until(async () => expect((await ask('GET', '/machines/web/status')).ip_configured).toBe('10.0.2.15'), 200)
    await waitForAddress().catch(waitForAddress).catch(waitForAddress)

    expect(await execute('cloud-init status --wait')).toMatch(/status: done/)
    expect(await execute('systemctl is-active ssh qemu-guest-agent')).toBe('active\nactive\n')
    expect(await execute('cat /root/seeded')).toBe('from the seed\n')
    const findBoot = () => execute('cat /proc/sys/kernel/random/boot_id')
    const boot = await findBoot()
    // Its boot loader says so.
    expect(await execute('cat /proc/cmdline')).toMatch(/^BOOT_IMAGE=/)

    ssh.trust(await (await sendFile('GET', '/etc/ssh/ssh_host_ed25519_key.pub')).text())
    expect(await ssh.run('debian', 'hostname', { port })).toBe('web-1\n')
    const tunnel = `'${process.execPath}' '${resolve('dist/vmhost.mjs')}' tunnel web %p`
    const proxyCommand = `${tunnel} --state '${state.path}'`
    expect(await ssh.run('debian', 'sudo -n id -un', { proxyCommand })).toBe('root\n')
    // That is more than what is on its way at any moment.
    const lines = Array.from({ length: 500_000 }, (_, at) => `${at + 1}\n`).join('')
    expect((await ssh.run('debian', 'seq 500000', { proxyCommand })) === lines).toBe(true)
    const key = await ask('POST', '/auth/api_keys', { name: 'ssh', claims: ['LIST_VM', 'EXECUTE_COMMAND_VM'] })
    using elsewhere = await signInElsewhere(service.url, { apiKey: key.encoded })
    const remote = { proxyCommand: tunnel, env: elsewhere.env }
    expect(await ssh.run('debian', 'echo $SSH_CONNECTION', remote)).toMatch(/ 22\n$/)

    const content = randomBytes(4 * MB)
    const digest = describeDigest(content)
    expect((await sendFile('PUT', '/root/content', content, { 'repr-digest': digest })).status).toBe(200)
    const [sum] = (await execute('sha256sum /root/content')).split(' ')
    expect(sum).toBe(createHash('sha256').update(content).digest('hex'))
    const back = await sendFile('GET', '/root/content', undefined, { 'want-repr-digest': 'sha-256=1' })
    expect(back.headers.get('repr-digest')).toBe(digest)
    expect(describeDigest(await back.bytes())).toBe(digest)

    const measureRoot = async (): Promise<number> =>
      Number(await execute('df --output=size -BM / | tail -n 1 | tr -d M'))
    expect(await measureRoot()).toBeGreaterThan(1700)
    await changeDevice('set', 'hdd0', { size: '3072' })
    await execute('growpart /dev/vda 1 >&2 && resize2fs /dev/vda1 >&2')
    expect(await measureRoot()).toBeGreaterThan(2700)

    await changeDevice('add', 'hdd', { size: '256' })
    await until(async () => expect(await execute('lsblk -bdno SIZE /dev/vdb')).toBe(`${256 * MB}\n`), 200)
    await execute('mkfs.ext4 -q /dev/vdb && mount /dev/vdb /mnt && echo kept >/mnt/file && umount /mnt')
    await changeDevice('remove', 'hdd1')
    await until(async () => expect(await execute('lsblk -dno NAME')).not.toContain('vdb'), 200)

    const iso = join(folder.path, 'medium.iso')
    writeFileSync(iso, buildIso('MEDIUM', [{ name: 'readme', data: Buffer.from('on a medium\n') }]))
    await changeDevice('add', 'cdrom', { path: iso })
    const readMedium = 'mount -o ro LABEL=MEDIUM /mnt && cat /mnt/readme && umount /mnt'
    await until(async () => expect(await execute(readMedium)).toBe('on a medium\n'), 200)
    await changeDevice('disconnect', 'cdrom0')
    // The guest learns it when it asks its drive the next time.
    await until(() => execute('! blkid -c /dev/null -L MEDIUM'), 200)

    const writeFile = async (path: string, content: Buffer<ArrayBuffer>): Promise<void> => {
      const written = await sendFile('PUT', path, content, { 'repr-digest': describeDigest(content) })
      expect(written.status).toBe(200)
    }
    await testServiceInGuest({ execute, writeFile }, packages)
    expect(await findBoot()).toBe(boot)

    await ask('PUT', '/machines/web/stop')
    expect(await ask('GET', '/machines/web/status')).toMatchObject({ status: 'stopped' })
    expect(await service.stop()).toBe(0)
  })
})
