import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { findAccount } from '#lib/hypervisor/qemu/account.ts'
import { buildBootSectorDisk } from '../../support/guests/boot-sector.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { newState, runProgram } from '../../support/service.ts'
import { startHost } from '../../support/transfers.ts'
import { until } from '../../support/waiting.ts'

const user = 'nobody'
const skipped = withoutQemu || process.platform !== 'linux' || process.getuid!() !== 0

describe.skipIf(skipped)('QEMU as another user (needs QEMU, Linux and root)', () => {
  const [uid, gid] = ['-u', '-g'].map(option => Number(execFileSync('id', [option, user])))

  test('has every verb, and of the host only its own machine', async () => {
    using state = newState()
    const host = await startHost(state.path, 'qemu', { VMHOST_QEMU_USER: user, VMHOST_DEMO: 'on' })
    const ask = async (method: string, path: string, body?: unknown): Promise<void> => {
      const answer = await host.call(method, path, body)
      expect(answer.status, `${method} ${path}: ${answer.body?.message}`).toBeLessThan(300)
    }
    const homeOf = async (name: string): Promise<string> => (await host.call('GET', `/machines/${name}`)).body[0].Home
    const boots = async (name: string): Promise<string[]> =>
      [...readFileSync(join(await homeOf(name), 'serial.log'), 'latin1').matchAll(/BOOT ([0-9A-F]{8})/g)].map(
        match => match[1]!,
      )

    expect(await host.boot('demo')).toBe(1)
    const home = await homeOf('demo')
    const pid = readFileSync(join(home, 'qemu.pid'), 'latin1').trim()
    const status = readFileSync(`/proc/${pid}/status`, 'latin1')
    expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}$`, 'm'))
    expect(status).toMatch(new RegExp(`^Gid:\\t${gid}\\t${gid}\\t${gid}\\t${gid}$`, 'm'))
    expect(status).toMatch(/^Groups:\s*$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).not.toContain('VMHOST')

    // What somebody can do who has taken over the process: they are where it is, and who it is.
    const asQemu = (program: string, ...args: string[]) => spawnSync(program, args, { cwd: home, uid, gid }).status
    expect(asQemu('cat', 'disk0.qcow2')).toBe(0)
    for (const file of [join(state.path, 'keys/signing.pem'), '../../../keys/signing.pem', '../../../store.db'])
      expect(asQemu('cat', file), file).not.toBe(0)
    for (const args of [
      ['ls', '.'],
      ['ls', '..'],
      ['cat', 'machine.json'],
      ['cat', 'serial.log'],
      ['touch', 'new'],
    ])
      expect(asQemu(args[0]!, args[1]!), args.join(' ')).not.toBe(0)
    expect(asQemu('ln', '-sf', '/etc/passwd', 'serial.log')).not.toBe(0)
    for (const folder of ['', 'machines', 'machines/qemu', 'keys'])
      expect(statSync(join(state.path, folder)).mode & 0o777, folder).toBe(0o700)
    expect(statSync(home).mode & 0o777).toBe(0o710)

    for (const verb of ['pause', 'resume', 'suspend', 'resume', 'reset', 'restart'])
      await ask('PUT', `/machines/demo/${verb}`)
    await until(async () => expect(await boots('demo')).toHaveLength(3))
    await ask('PUT', '/machines/demo/stop')

    await ask('PUT', '/machines/demo/clone', { clone_name: 'full' })
    await ask('PUT', '/machines/demo/clone?linked=true', { clone_name: 'linked' })
    for (const name of ['full', 'linked', 'demo']) {
      expect(await host.boot(name)).toBe(4)
      await ask('PUT', `/machines/${name}/suspend`)
      await ask('PUT', `/machines/${name}/resume`)
      await ask('PUT', `/machines/${name}/stop?force=true`)
    }
    const connection = 'provider=local-storage'
    await ask('POST', '/catalog/push', { catalog_id: 'demo', version: '1', connection, uuid: 'linked' })
    await ask('PUT', '/catalog/pull', { catalog_id: 'demo', version: '1', machine_name: 'pulled' })
    expect(await host.boot('pulled')).toBe(5)
    await ask('PUT', '/machines/pulled/stop?force=true')
    for (const name of ['pulled', 'linked', 'full', 'demo']) await ask('DELETE', `/machines/${name}`)
    expect(globSync('machines/qemu/*', { cwd: state.path })).toEqual([])
  })

  test('an image that it may not open is refused with words, and serves once it may', async () => {
    using state = newState()
    const host = await startHost(state.path, 'qemu', { VMHOST_QEMU_USER: user })
    const disk = join(state.path, 'attach', 'boot.img')
    buildBootSectorDisk(disk)
    const created = await host.call('POST', '/machines', { name: 'one', memory: 16, disks: [{ path: disk }] })
    expect(created.status, created.body.message).toBe(201)
    const refused = await host.call('PUT', '/machines/one/start')
    expect(refused).toMatchObject({ status: 502, body: { message: expect.stringContaining('runs as nobody') } })
    expect(refused.body.message).toContain(disk)
    expect((await host.call('GET', '/machines/one/status')).body.status).toBe('stopped')
    chownSync(disk, uid!, gid!)
    expect(await host.boot('one')).toBe(1)
    await host.stop('one')
  })

  test('a machine that ran as the service runs as another user from its next start on, and back', async () => {
    using state = newState()
    for (const env of [{}, { VMHOST_QEMU_USER: user }, {}]) {
      const host = await startHost(state.path, 'qemu', { ...env, VMHOST_DEMO: 'on' })
      await host.boot('demo')
      expect((await host.call('PUT', '/machines/demo/suspend')).status).toBe(200)
      await host.service.stop()
      const again = await startHost(state.path, 'qemu', { ...env, VMHOST_DEMO: 'on' })
      expect((await again.call('PUT', '/machines/demo/resume')).status).toBe(200)
      await again.stop('demo')
      await again.service.stop()
    }
  })

  test('a user that is not there, or is root, stops the start of the service', async () => {
    using state = newState()
    for (const [name, why] of [
      ['nobody-knows-them', 'no such user'],
      ['root', 'must not be root'],
    ] as const) {
      const env = { VMHOST_QEMU_USER: name, VMHOST_DRIVER: 'qemu', VMHOST_STATE: state.path }
      const { code, stderr } = await runProgram(['serve'], env, state.path)
      expect(code).not.toBe(0)
      expect(stderr).toContain(why)
    }
  })
})

test('a service that is not root cannot start QEMU as another user, and says so', async () => {
  vi.spyOn(process, 'getuid').mockReturnValue(1000)
  await expect(findAccount(user)).rejects.toMatchObject({ message: expect.stringContaining('the service is not root') })
  vi.restoreAllMocks()
})
