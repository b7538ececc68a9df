import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type AdminHost, startAdminHost } from '../../support/admin.ts'
import { buildBootSectorDisk } from '../../support/guests/boot-sector.ts'
import { newFolder } from '../../support/folder.ts'
import { qcow2Header } from '../../support/disks/qcow2-header.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { newState } from '../../support/service.ts'

const qemuImg = (...args: readonly string[]): void => void execFileSync('qemu-img', args)

/** A service with a folder of images, and a file beside that folder that no machine may read. */
const withImages = async (work: (host: AdminHost, images: string, secret: string) => Promise<void>): Promise<void> => {
  using state = newState()
  using folder = newFolder()
  const [images, secret] = [join(folder.path, 'images'), join(folder.path, 'secret')]
  mkdirSync(images)
  writeFileSync(secret, 'nobody reads this'.padEnd(1024))
  const env = { VMHOST_ALLOWED_FOLDERS: images, VMHOST_DEMO: 'off' }
  const host = await startAdminHost(state.path, 'qemu', env)
  await work(host, images, secret)
  expect(await host.service.stop()).toBe(0)
}

const create = (host: AdminHost, name: string, ...disks: readonly string[]) =>
  host.call('POST', '/machines', { name, memory: 16, disks: disks.map(path => ({ path })) })

/** A qcow2 image that boots. */
const bootImage = (images: string, name: string): string => {
  const [raw, path] = [join(images, `${name}.img`), join(images, `${name}.qcow2`)]
  buildBootSectorDisk(raw)
  qemuImg('convert', '-q', '-f', 'raw', '-O', 'qcow2', raw, path)
  rmSync(raw)
  return path
}

const status = async (host: AdminHost, name: string): Promise<string> =>
  (await host.call('GET', `/machines/${name}/status`)).body.status

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'an image of the host', () => {
  test('that a guest can make into another kind of image is no disk of that kind for anybody else', () =>
    withImages(async (host, images, secret) => {
      const shared = join(images, 'shared.img')
      writeFileSync(shared, Buffer.alloc(1 << 20))
      expect((await create(host, 'a', shared)).status).toBe(201)
      // As the guest of a writes it: what it writes into a raw disk is the file.
      writeFileSync(shared, qcow2Header())
      const second = await create(host, 'b', shared)
      expect(second).toMatchObject({ status: 409, body: { message: expect.stringContaining('raw disk of a') } })
      writeFileSync(shared, qcow2Header({ backing: secret }))
      const push = { catalog_id: 'demo', version: '1', uuid: 'a', connection: 'provider=local-storage' }
      expect((await host.call('PUT', '/machines/a/clone', { clone_name: 'copy' })).status).toBe(200)
      expect((await host.call('POST', '/catalog/push', push)).status).toBe(200)
      const home: string = (await host.call('GET', '/machines/copy')).body[0].Home
      const out = join(images, 'out.img')
      qemuImg('convert', '-f', 'qcow2', '-O', 'raw', join(home, 'disk0.qcow2'), out)
      expect(readFileSync(out).equals(readFileSync(shared))).toBe(true)
    }))

  test.for([
    [
      'a backing file',
      (path: string, secret: string) => qemuImg('rebase', '-u', '-f', 'qcow2', '-F', 'raw', '-b', secret, path),
    ],
    ['a data file', (path: string, secret: string) => writeFileSync(path, qcow2Header({ dataFile: secret }))],
    ['a server', (path: string) => writeFileSync(path, qcow2Header({ backing: 'nbd://192.0.2.1/x' }))],
  ] as const)('whose header names %s by now is not started, cloned or pushed', ([, change]) =>
    withImages(async (host, images, secret) => {
      const path = bootImage(images, 'disk')
      expect((await create(host, 'one', path)).status).toBe(201)
      change(path, secret)
      const push = { catalog_id: 'demo', version: '1', uuid: 'one', connection: 'provider=local-storage' }
      const uses = [
        await host.call('PUT', '/machines/one/start'),
        await host.call('PUT', '/machines/one/clone', { clone_name: 'copy' }),
        await host.call('POST', '/catalog/push', push),
      ]
      for (const { status: code, body } of uses) {
        expect(code, body.message).toBe(409)
        expect(body.message).toMatch(/builds on another image|data in another file/)
      }
      expect(await status(host, 'one')).toBe('stopped')
      expect((await host.call('GET', '/machines')).body).toHaveLength(1)
      expect((await host.call('GET', '/catalog')).body).toEqual([])
      expect((await create(host, 'two', path)).status).toBe(400)
    }),
  )

  test('whose header changed while its machine was suspended is not resumed; put right, it is', () =>
    withImages(async (host, images, secret) => {
      const path = bootImage(images, 'disk')
      expect((await create(host, 'one', path)).status).toBe(201)
      for (const verb of ['start', 'suspend'])
        expect((await host.call('PUT', `/machines/one/${verb}`)).status, verb).toBe(200)
      qemuImg('rebase', '-u', '-f', 'qcow2', '-F', 'raw', '-b', secret, path)
      const refused = await host.call('PUT', '/machines/one/resume')
      expect(refused).toMatchObject({ status: 409, body: { message: expect.stringContaining('builds on another') } })
      expect(await status(host, 'one')).toBe('suspended')
      qemuImg('rebase', '-u', '-f', 'qcow2', '-b', '', path)
      expect((await host.call('PUT', '/machines/one/resume')).status).toBe(200)
      expect((await host.call('PUT', '/machines/one/stop?force=true')).status).toBe(200)
    }))

  test('is all of the host that a running QEMU has open', () =>
    withImages(async (host, images) => {
      const path = bootImage(images, 'disk')
      const raw = join(images, 'raw.img')
      writeFileSync(raw, Buffer.alloc(1 << 20))
      expect((await create(host, 'one', path, raw)).status).toBe(201)
      expect((await host.call('PUT', '/machines/one/start')).status).toBe(200)
      const home: string = (await host.call('GET', '/machines/one')).body[0].Home
      const pid = readFileSync(join(home, 'qemu.pid'), 'utf8').trim()
      const open = readdirSync(`/proc/${pid}/fd`).map(fd => readlinkSync(`/proc/${pid}/fd/${fd}`))
      const outside = new Set(
        open.filter(file => file.startsWith('/') && !file.startsWith(home) && file !== '/dev/null'),
      )
      expect([...outside].filter(file => !/^\/(dev|memfd)/.test(file)).toSorted()).toEqual([path, raw].toSorted())
      expect((await host.call('PUT', '/machines/one/stop?force=true')).status).toBe(200)
    }))

  test('is a disk of one machine once, and who starts or copies a second one with it is told of the first', () =>
    withImages(async (host, images) => {
      const path = bootImage(images, 'disk')
      expect((await create(host, 'twice', path, path)).status).toBe(400)
      for (const name of ['one', 'two']) expect((await create(host, name, path)).status).toBe(201)
      const refuses = async (verb: string, why: string, body?: object): Promise<void> => {
        const answer = await host.call('PUT', `/machines/two/${verb}`, body)
        expect(answer).toMatchObject({ status: 409, body: { message: expect.stringContaining(why) } })
        expect(answer.body.message).toContain(path)
        expect(await status(host, 'two')).toBe('stopped')
      }
      for (const verb of ['start', 'pause', 'suspend']) {
        expect((await host.call('PUT', `/machines/one/${verb}`)).status).toBe(200)
        await refuses('start', `in use by the machine one, which is ${await status(host, 'one')}`)
        if (verb !== 'suspend') await refuses('clone', 'in use by the machine one', { clone_name: 'copy' })
      }
      expect((await host.call('PUT', '/machines/one/resume')).status).toBe(200)
      expect((await host.call('PUT', '/machines/one/stop?force=true')).status).toBe(200)
      expect((await host.call('PUT', '/machines/two/start')).status).toBe(200)
      expect((await host.call('PUT', '/machines/two/stop?force=true')).status).toBe(200)
    }))

  test('is a disk of one of two machines that start at the same time', () =>
    withImages(async (host, images) => {
      const path = bootImage(images, 'disk')
      for (const name of ['one', 'two']) expect((await create(host, name, path)).status).toBe(201)
      const both = await Promise.all(['one', 'two'].map(name => host.call('PUT', `/machines/${name}/start`)))
      expect(both.map(answer => answer.status).toSorted((a, b) => a - b)).toEqual([200, 409])
      const { body } = both.find(answer => answer.status === 409)!
      expect(body.message).toMatch(/disk\.qcow2 is in use by/)
      for (const name of ['one', 'two'])
        expect((await host.call('PUT', `/machines/${name}/stop?force=true`)).status).toBe(200)
    }))

  test('that another program has open is told as such, and its machine stays as it is', () =>
    withImages(async (host, images) => {
      const path = bootImage(images, 'disk')
      expect((await create(host, 'one', path)).status).toBe(201)
      const program = spawn('qemu-io', ['-f', 'qcow2', path], { stdio: ['pipe', 'pipe', 'ignore'] })
      await new Promise(settle => program.stdout.once('data', settle))
      const push = { catalog_id: 'demo', version: '1', uuid: 'one', connection: 'provider=local-storage' }
      for (const answer of [
        await host.call('PUT', '/machines/one/start'),
        await host.call('PUT', '/machines/one/clone', { clone_name: 'copy' }),
        await host.call('POST', '/catalog/push', push),
      ])
        expect(answer).toMatchObject({
          status: 409,
          body: { message: expect.stringContaining(`${path} is in use by another`) },
        })
      expect(await status(host, 'one')).toBe('stopped')
      expect((await host.call('GET', '/machines')).body).toHaveLength(1)
      program.stdin.end()
      await new Promise(settle => program.once('exit', settle))
      expect((await host.call('PUT', '/machines/one/start')).status).toBe(200)
      expect((await host.call('PUT', '/machines/one/stop?force=true')).status).toBe(200)
    }))

  test('of a kind that leads to other files is refused before a program reads it', () =>
    withImages(async (host, images, secret) => {
      const path = join(images, 'disk.vmdk')
      writeFileSync(path, `# Disk DescriptorFile\nversion=1\ncreateType="monolithicFlat"\nRW 2 FLAT "${secret}" 0\n`)
      const refused = await create(host, 'one', path)
      expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining('vmdk') } })
    }))
})
