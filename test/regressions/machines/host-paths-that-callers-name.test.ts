import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import {
  globSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'
import { type AdminHost, startAdminHost } from '../../support/admin.ts'
import { newFolder } from '../../support/folder.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { newState } from '../../support/service.ts'

const thief = { name: 'thief', memory: 16, disks: [] }

/** The driver that takes the most files as they are. */
const driver = withoutQemu ? 'embedded' : 'qemu'

/** Where a caller can name a path of the host: sends one. The files beside it are good. */
const fields: Readonly<
  Record<string, (host: AdminHost, path: string, attach: string) => ReturnType<AdminHost['call']>>
> = {
  disk: ({ call }, path, attach) =>
    call('POST', '/machines', { ...thief, disks: [{ path }], kernel: join(attach, 'demo-kernel.bin') }),
  kernel: ({ call }, kernel) => call('POST', '/machines', { ...thief, kernel }),
  initrd: ({ call }, initrd, attach) =>
    call('POST', '/machines', { ...thief, kernel: join(attach, 'demo-kernel.bin'), initrd }),
  local_path: ({ call }, local_path) =>
    call('POST', '/catalog/push', {
      catalog_id: 'thief',
      version: '1',
      connection: 'provider=local-storage',
      local_path,
    }),
  catalog_path: ({ call }, path) =>
    call('PUT', '/catalog/import-vm', {
      catalog_id: 'thief',
      version: '1',
      architecture: 'x86_64',
      connection: `provider=local-storage;catalog_path=${path.slice(0, path.lastIndexOf('/')) || '/'}`,
      machine_remote_path: path.slice(path.lastIndexOf('/') + 1),
      type: 'pvm',
      size: 1,
    }),
  'catalog_path of a push': ({ call }, path) =>
    call('POST', '/catalog/push', {
      catalog_id: 'thief',
      version: '1',
      connection: `provider=local-storage;catalog_path=${path}`,
      uuid: 'demo',
    }),
}

/** Paths that lead to what is the service's, to the system's, or to no regular file. `attach` may be named. */
const paths: Readonly<Record<string, (state: string, attach: string) => string>> = {
  'the signing key': state => join(state, 'keys/signing.pem'),
  'the store': state => join(state, 'store.db'),
  'a way back into the state': (_, attach) => `${attach}/../keys/signing.pem`,
  'a detour by the processes': state => `/proc/self/root${state}/keys/signing.pem`,
  'the socket of the command line': state => join(state, 'vmhost.sock'),
  'a link to the key': (state, attach) => {
    symlinkSync(join(state, 'keys/signing.pem'), join(attach, 'link'))
    return join(attach, 'link')
  },
  'a link to the folder of the key': (state, attach) => {
    symlinkSync(join(state, 'keys'), join(attach, 'folder'))
    return join(attach, 'folder/signing.pem')
  },
  'another name of the key': (state, attach) => {
    linkSync(join(state, 'keys/signing.pem'), join(attach, 'hard'))
    return join(attach, 'hard')
  },
  'the environment of the service': () => '/proc/self/environ',
  'a device': () => '/dev/null',
  'an endless device': () => '/dev/zero',
  'a file of the system': () => '/sys/kernel/notes',
  'another name of the definition of a machine': (state, attach) => {
    const [machine] = globSync('machines/*/*/machine.json', { cwd: state })
    linkSync(join(state, machine!), join(attach, 'definition'))
    return join(attach, 'definition')
  },
  'another name of a backup': (state, attach) => {
    const backup = join(state, 'backups/store.db')
    mkdirSync(dirname(backup), { recursive: true })
    writeFileSync(backup, 'a copy of the store')
    linkSync(backup, join(attach, 'backup'))
    return join(attach, 'backup')
  },
  'a pipe': (_, attach) => {
    execFileSync('mkfifo', [join(attach, 'fifo')])
    return join(attach, 'fifo')
  },
  'a link to a device': (_, attach) => {
    symlinkSync('/dev/zero', join(attach, 'zero'))
    return join(attach, 'zero')
  },
}

const key = 'PRIVATE KEY'

/** Everything below a folder but for what the service itself changes all the time. */
const listOf = (folder: string): readonly string[] => readdirSync(folder, { recursive: true }).map(String).toSorted()

describe.each([
  ['as it is installed', ''],
  ['where any file is allowed', '*'],
])('a service %s', (_, allowed) => {
  test.skipIf(process.platform !== 'linux')(
    'lets no field name what is its own, the system’s or no file; nothing comes of it and nothing hangs',
    async () => {
      using state = newState()
      const host = await startAdminHost(state.path, driver, { VMHOST_ALLOWED_FOLDERS: allowed })
      const attach = join(state.path, 'attach')
      for (const [what, pathOf] of Object.entries(paths)) {
        const path = pathOf(state.path, attach)
        const before = listOf(attach)
        for (const [field, send] of Object.entries(fields)) {
          const { status, body } = await send(host, path, attach)
          const told = `${field}: ${what}: ${JSON.stringify(body)}`
          // What is no regular file is no object of a storage.
          expect(field === 'catalog_path' ? [400, 403, 404] : [400, 403], told).toContain(status)
          expect(told).not.toContain(key)
        }
        expect(listOf(attach), what).toEqual(before)
      }
      expect((await host.call('GET', '/machines')).body).toMatchObject([{ Name: 'demo' }])
      expect((await host.call('GET', '/catalog')).body).toEqual([])
      expect((await host.call('GET', '/health/system')).status).toBe(200)
      expect(await host.service.stop()).toBe(0)
    },
  )
})

test('a fresh installation lets files of its folder for them be used, and nothing else of the host', async () => {
  using state = newState()
  using elsewhere = newFolder()
  const host = await startAdminHost(state.path, 'embedded')
  const kernel = join(state.path, 'attach/demo-kernel.bin')
  const outside = join(elsewhere.path, 'kernel.bin')
  writeFileSync(outside, demoGuest)
  const create = (name: string, path: string) =>
    host.call('POST', '/machines', { name, memory: 16, disks: [{ size: 1 }], kernel: path })
  for (const path of [outside, '/etc/shadow', '/nowhere/at/all']) {
    const refused = await create('thief', path)
    expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('allowed_folders') } })
  }
  const storage = await host.call('POST', '/catalog/push', {
    catalog_id: 'demo',
    version: '1',
    uuid: 'demo',
    connection: `provider=local-storage;catalog_path=${elsewhere.path}`,
  })
  expect(storage.status).toBe(403)
  expect(readdirSync(elsewhere.path)).toEqual(['kernel.bin'])
  expect((await create('mine', kernel)).status).toBe(201)
  expect((await host.call('PUT', '/machines/mine/start')).status).toBe(200)
  expect((await host.call('PUT', '/machines/mine/stop?force=true')).status).toBe(200)
  await host.service.stop()
})

test('any file of the host can be allowed, which is warned of at the start', async () => {
  using state = newState()
  using elsewhere = newFolder()
  const host = await startAdminHost(state.path, 'embedded', { VMHOST_ALLOWED_FOLDERS: '*' })
  const kernel = join(elsewhere.path, 'kernel.bin')
  writeFileSync(kernel, demoGuest)
  expect((await host.call('POST', '/machines', { name: 'mine', memory: 16, disks: [], kernel })).status).toBe(201)
  expect(host.service.log()).toContain('allowed_folders is *')
  await host.service.stop()
})

describe.each(['embedded', 'qemu'] as const)('a machine on %s', kind => {
  describe.skipIf(process.platform !== 'linux' || (kind === 'qemu' && withoutQemu))('of files of the host', () => {
    /** What takes the place of a file that was good when the machine was made. */
    const swaps: Readonly<Record<string, (path: string, state: string) => void>> = {
      'a pipe': path => execFileSync('mkfifo', [path]),
      'a link to the key': (path, state) => symlinkSync(join(state, 'keys/signing.pem'), path),
      'another name of the key': (path, state) => linkSync(join(state, 'keys/signing.pem'), path),
      'a device': path => symlinkSync('/dev/zero', path),
      'a folder': path => mkdirSync(path),
    }

    test('is refused each use once one of them is no longer one that may be used, and stays as it is', async () => {
      using state = newState()
      const host = await startAdminHost(state.path, kind)
      const attach = join(state.path, 'attach')
      const image = Buffer.alloc(1 << 20)
      for (const field of ['disk', 'kernel'] as const)
        for (const [what, swap] of Object.entries(swaps)) {
          const path = join(attach, 'file')
          writeFileSync(path, field === 'disk' ? image : demoGuest)
          const kernel = field === 'kernel' ? path : join(attach, 'demo-kernel.bin')
          const disks = field === 'disk' ? [{ path }] : []
          const made = await host.call('POST', '/machines', { name: 'swapped', memory: 16, disks, kernel })
          expect(made.status, made.body.message).toBe(201)
          rmSync(path)
          swap(path, state.path)
          const push = { catalog_id: 'thief', version: '1', uuid: 'swapped', connection: 'provider=local-storage' }
          const uses = {
            start: () => host.call('PUT', '/machines/swapped/start'),
            clone: () => host.call('PUT', '/machines/swapped/clone', { clone_name: 'copy' }),
            ...(kind === 'qemu' && {
              linked: () => host.call('PUT', '/machines/swapped/clone?linked=true', { clone_name: 'copy' }),
            }),
            push: () => host.call('POST', '/catalog/push', push),
          }
          for (const [use, send] of Object.entries(uses)) {
            const { status, body } = await send()
            const told = `${field}, ${what}, ${use}: ${JSON.stringify(body)}`
            expect(use === 'linked' && field === 'disk' ? [400, 403, 409] : [403, 409], told).toContain(status)
            // A linked clone of an attached disk is refused for what it is.
            if (use !== 'linked') expect(body.message, told).toContain('swapped')
          }
          expect((await host.call('GET', '/machines/swapped/status')).body).toMatchObject({ status: 'stopped' })
          expect((await host.call('GET', '/machines/copy')).status).toBe(404)
          expect((await host.call('DELETE', '/machines/swapped')).status).toBe(202)
          rmSync(path, { recursive: true })
        }
      expect((await host.call('GET', '/catalog')).body).toEqual([])
      expect(await host.service.stop()).toBe(0)
    })

    test('goes on where a restart could not bring it up again', async () => {
      using state = newState()
      const host = await startAdminHost(state.path, kind)
      const [path, kernel] = [join(state.path, 'attach/disk.img'), join(state.path, 'attach/demo-kernel.bin')]
      writeFileSync(path, Buffer.alloc(1 << 20))
      const machine = { name: 'one', memory: 16, disks: [{ path }], kernel }
      expect((await host.call('POST', '/machines', machine)).status).toBe(201)
      expect((await host.call('PUT', '/machines/one/start')).status).toBe(200)
      rmSync(path)
      execFileSync('mkfifo', [path])
      for (const verb of kind === 'qemu' ? ['restart'] : ['restart', 'reset'])
        expect((await host.call('PUT', `/machines/one/${verb}`)).status, verb).toBe(409)
      expect((await host.call('GET', '/machines/one/status')).body).toMatchObject({ status: 'running' })
      expect((await host.call('PUT', '/machines/one/stop?force=true')).status).toBe(200)
      await host.service.stop()
    })

    test('whose image was replaced is refused by name until it is put back', async () => {
      using state = newState()
      const host = await startAdminHost(state.path, kind)
      const path = join(state.path, 'attach/disk.img')
      const kernel = join(state.path, 'attach/demo-kernel.bin')
      writeFileSync(path, Buffer.alloc(1 << 20))
      expect(
        (await host.call('POST', '/machines', { name: 'one', memory: 16, disks: [{ path }], kernel })).status,
      ).toBe(201)
      const kept = join(state.path, 'attach/kept')
      execFileSync('mv', [path, kept])
      writeFileSync(path, Buffer.alloc(1 << 20))
      const started = await host.call('PUT', '/machines/one/start')
      expect(started).toMatchObject({ status: 409, body: { message: expect.stringContaining('was replaced') } })
      execFileSync('mv', [kept, path])
      expect((await host.call('PUT', '/machines/one/start')).status).toBe(200)
      expect((await host.call('PUT', '/machines/one/stop?force=true')).status).toBe(200)
      // The number of a deleted file is given again, mostly to the next one.
      const { ino } = statSync(path)
      rmSync(path)
      const makeAnew = (): number => {
        writeFileSync(path, Buffer.alloc(1 << 20))
        return statSync(path).ino
      }
      for (let at = 0; makeAnew() !== ino && at < 100; at += 1) renameSync(path, `${path}.${at}`)
      const anew = await host.call('PUT', '/machines/one/start')
      expect(anew).toMatchObject({ status: 409, body: { message: expect.stringContaining('was replaced') } })
      await host.service.stop()
    })
  })
})

test.skipIf(process.platform !== 'linux')(
  'pushes of machines whose kernel became a pipe end, and the service goes on and stops',
  async () => {
    using state = newState()
    const host = await startAdminHost(state.path, 'embedded')
    const pushes: string[] = []
    for (let at = 0; at < 6; at += 1) {
      const kernel = join(state.path, `attach/kernel${at}`)
      writeFileSync(kernel, demoGuest)
      const name = `piped${at}`
      expect((await host.call('POST', '/machines', { name, memory: 16, disks: [], kernel })).status).toBe(201)
      rmSync(kernel)
      execFileSync('mkfifo', [kernel])
      const push = { catalog_id: name, version: '1', uuid: name, connection: 'provider=local-storage' }
      const begun = await host.call('POST', '/catalog/push', push, { prefer: 'respond-async' })
      expect(begun.status).toBe(202)
      pushes.push(begun.body.id)
    }
    for (const id of pushes)
      await expect.poll(async () => (await host.call('GET', `/jobs/${id}`)).body.state).toBe('failed')
    // Each needs a thread that nothing holds.
    await host.service.signIn()
    const disks = [{ size: 1 }]
    const kernel = join(state.path, 'attach/demo-kernel.bin')
    expect((await host.call('POST', '/machines', { name: 'more', memory: 16, disks, kernel })).status).toBe(201)
    expect(await host.service.stop()).toBe(0)
  },
)

test.skipIf(process.platform !== 'linux')('a bundle with another name of a key, or a pipe, is not pushed', async () => {
  using state = newState()
  const host = await startAdminHost(state.path, 'embedded')
  const bundle = join(state.path, 'attach/mac.macvm')
  mkdirSync(bundle)
  const push = {
    catalog_id: 'mac',
    version: '1',
    local_path: bundle,
    connection: 'provider=local-storage',
  }
  linkSync(join(state.path, 'keys/signing.pem'), join(bundle, 'config.pvs'))
  expect((await host.call('POST', '/catalog/push', push)).status).toBe(403)
  rmSync(join(bundle, 'config.pvs'))
  execFileSync('mkfifo', [join(bundle, 'config.pvs')])
  expect((await host.call('POST', '/catalog/push', push)).status).toBe(400)
  rmSync(join(bundle, 'config.pvs'))
  writeFileSync(join(bundle, 'config.pvs'), 'config')
  const pushed = await host.call('POST', '/catalog/push', push)
  expect(pushed.status, pushed.body.message).toBe(200)
  await host.service.stop()
})

test.skipIf(process.platform !== 'linux')(
  'the keys that the configuration names, and its own file, are nobody’s kernel',
  async () => {
    using state = newState()
    using folder = newFolder()
    const config = join(folder.path, 'vmhost.toml')
    const signing = join(folder.path, 'packs.pem')
    const backups = join(folder.path, 'backups')
    writeFileSync(signing, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
    writeFileSync(config, `pack_signing_key = "${signing}"\nbackup_folder = "${backups}"\n`)
    const host = await startAdminHost(state.path, driver, {
      VMHOST_ALLOWED_FOLDERS: folder.path,
      VMHOST_CONFIG: config,
    })
    mkdirSync(backups, { recursive: true })
    writeFileSync(join(backups, 'store-20260101T000000Z.db'), 'a copy of the store')
    linkSync(signing, join(folder.path, 'other'))
    for (const path of [config, signing, join(folder.path, 'other'), join(backups, 'store-20260101T000000Z.db')]) {
      const { status } = await host.call('POST', '/machines', { name: 'thief', memory: 16, disks: [], kernel: path })
      expect(status, path).toBe(403)
      const imported = await fields['catalog_path']!(host, path, '')
      expect([400, 403, 404], JSON.stringify(imported.body)).toContain(imported.status)
      const registered = await host.call('POST', '/catalog', {
        catalog_id: 'thief',
        version: '1',
        architecture: 'x86_64',
        provider: { type: 'local-storage', meta: { catalog_path: folder.path } },
        path: path.startsWith(backups) ? '/backups' : '/',
        pack_path: path.slice(path.lastIndexOf('/') + 1),
      })
      expect(registered.status).toBe(200)
      const read = await host.call('GET', '/catalog/thief/1/x86_64/download?content=pack')
      expect(read.status, path).toBe(403)
      await host.call('DELETE', '/catalog/thief?clean_remote=false')
    }
    expect(readFileSync(signing, 'utf8')).toContain(key)
    await host.service.stop()
  },
)

test.skipIf(process.platform !== 'linux')('a socket is no disk, wherever it lies', async () => {
  using state = newState()
  const host = await startAdminHost(state.path, driver)
  const path = join(state.path, 'attach/socket')
  const server = createServer().listen(path)
  try {
    for (const field of ['disk', 'kernel', 'initrd'])
      expect((await fields[field]!(host, path, join(state.path, 'attach'))).status, field).toBeOneOf([400, 403])
  } finally {
    server.close()
  }
  await host.service.stop()
})
