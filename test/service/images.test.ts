import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canMount, newSmallDisk } from '../support/disks/small-disk.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { newFolder } from '../support/folder.ts'
import { buildBootSectorDisk } from '../support/guests/boot-sector.ts'
import { rangesOf, startFileServer } from '../support/servers/file-server.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { until } from '../support/waiting.ts'

const MB = 2 ** 20
const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_OUTGOING_ADDRESSES: '127.0.0.1', VMHOST_DEMO: 'off' }
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The content of a disk that the counting guest boots from. */
const buildGuestDisk = (): Buffer => {
  using folder = newFolder()
  const path = join(folder.path, 'guest.img')
  buildBootSectorDisk(path)
  return readFileSync(path)
}

const createAsk = async (service: Service) => {
  const token = await service.signIn()
  return (method: string, path: string, body?: unknown, headers = {}) =>
    service.call(method, `/api/v1${path}`, { token, body, headers })
}
type Ask = Awaited<ReturnType<typeof createAsk>>

const waitForJob = (ask: Ask, id: string) =>
  until(async () => {
    const { body } = await ask('GET', `/jobs/${id}`)
    expect(['completed', 'failed']).toContain(body.state)
    return body
  })

describe.skipIf(withoutQemu)('images of a service with QEMU', () => {
  test('a pull that a kill interrupts goes on by ranges, and nothing else stays', async () => {
    using state = newState()
    await using server = await startFileServer()
    const disk = randomBytes(24 * MB)
    let isHeld = true
    server.serve('/disk.img', (request, response) => {
      if (!isHeld) return rangesOf(disk)(request, response)
      // Two thirds of it, and then silence.
      response.writeHead(200, { ETag: '"one"', 'Content-Length': disk.length })
      response.write(disk.subarray(0, 16 * MB))
    })
    let service = await startService({ state: state.path, driver: 'qemu', env })
    let ask = await createAsk(service)
    const request = { name: 'disk', url: `${server.url}/disk.img`, sha256: sha256(disk) }
    const { status, body: job } = await ask('POST', '/images', request, { prefer: 'respond-async' })
    expect(status).toBe(202)
    const images = join(state.path, 'images')
    await until(() => {
      const [file] = globSync(join(images, 'work', '*', 'source'))
      expect(file !== undefined && readFileSync(file).length).toBe(16 * MB)
    })
    await service.kill()
    isHeld = false

    service = await startService({ state: state.path, driver: 'qemu', env })
    ask = await createAsk(service)
    const ended = await waitForJob(ask, job.id)
    expect(ended).toMatchObject({ state: 'completed', result: { id: job.id, name: 'disk', sha256: sha256(disk) } })
    expect(server.requests.map(({ range }) => range)).toEqual([undefined, `bytes=${16 * MB}-`])
    expect(readdirSync(join(images, 'work'))).toEqual([])
    expect(readdirSync(images).toSorted()).toEqual([`${ended.result.digest}.qcow2`, 'uploads', 'work'].toSorted())
    expect(await service.stop()).toBe(0)
  })

  test('two machines, their clones and a suspend build on one image, which nobody changes', async () => {
    using state = newState()
    await using server = await startFileServer()
    const disk = buildGuestDisk()
    server.serve('/guest.img', rangesOf(disk))
    let service = await startService({ state: state.path, driver: 'qemu', env })
    let ask = await createAsk(service)
    const expectOk = async (...call: Parameters<Ask>) => {
      const { status, body } = await ask(...call)
      expect(status, JSON.stringify(body)).toBeLessThan(300)
      return body
    }
    const homeOf = async (name: string): Promise<string> => (await expectOk('GET', `/machines/${name}`))[0].Home
    const waitForText = async (name: string, text: string) => {
      const home = await homeOf(name)
      await until(() => expect(readFileSync(join(home, 'serial.log'), 'latin1')).toContain(text))
    }
    const image = await expectOk('POST', '/images', { name: 'guest', url: `${server.url}/guest.img` })
    const file = join(state.path, 'images', `${image.digest}.qcow2`)

    await Promise.all(
      ['a', 'b'].map(name =>
        expectOk('POST', '/machines', { name, memory: 16, image: name === 'a' ? 'GUEST' : image.digest }),
      ),
    )
    await Promise.all(['a', 'b'].map(name => expectOk('PUT', `/machines/${name}/start`)))
    for (const name of ['a', 'b']) await waitForText(name, 'BOOT 00000001')
    await expectOk('PUT', '/machines/a/suspend')

    // The next process of the service opens the image again.
    expect(await service.stop()).toBe(0)
    service = await startService({ state: state.path, driver: 'qemu', env })
    ask = await createAsk(service)
    await expectOk('PUT', '/machines/a/resume')
    await expectOk('PUT', '/machines/a/stop?force=true')
    await expectOk('PUT', '/machines/a/clone', { clone_name: 'full' })
    await expectOk('PUT', '/machines/a/clone?linked=true', { clone_name: 'linked' })
    for (const name of ['a', 'full', 'linked']) {
      await expectOk('PUT', `/machines/${name}/start`)
      await waitForText(name, 'BOOT 00000002')
    }
    expect(sha256(readFileSync(file))).toBe(image.digest)

    const refused = await ask('DELETE', '/images/guest')
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringMatching(/machines a, b, linked/)])
    await expectOk('DELETE', '/machines/linked?force=true')
    await expectOk('PUT', '/machines/a/stop?force=true')
    const manifest = { catalog_id: 'guest', version: '1', connection: 'provider=local-storage' }
    await expectOk('POST', '/catalog/push', { ...manifest, uuid: 'a' })
    for (const name of ['a', 'b']) await expectOk('DELETE', `/machines/${name}?force=true`)
    await expectOk('DELETE', '/images/guest')
    expect(readdirSync(join(state.path, 'images')).toSorted()).toEqual(['uploads', 'work'])

    // What was cloned or packed in full needs no image.
    const { connection: _, ...pulled } = manifest
    await expectOk('PUT', '/catalog/pull', { ...pulled, machine_name: 'pulled', start_after_pull: true })
    await waitForText('pulled', 'BOOT 00000003')
    await expectOk('PUT', '/machines/full/stop?force=true')
    await expectOk('PUT', '/machines/full/start')
    await waitForText('full', 'BOOT 00000003')
    expect(await service.stop()).toBe(0)
  })

  test('a disk of an image can be larger than it, and not smaller', async () => {
    using state = newState()
    await using server = await startFileServer()
    server.serve('/guest.img', rangesOf(Buffer.concat([buildGuestDisk(), Buffer.alloc(3 * MB)])))
    const service = await startService({ state: state.path, driver: 'qemu', env })
    const ask = await createAsk(service)
    expect((await ask('POST', '/images', { name: 'guest', url: `${server.url}/guest.img` })).status).toBe(201)
    const create = (body: object) => ask('POST', '/machines', { name: 'm', memory: 16, ...body })
    for (const [body, message] of [
      [{ image: 'guest', disk_size: 1 }, /image: a disk of 1 MB is smaller than the image guest, which has 4 MB/],
      [{ disks: [{ size: 1 }, { image: 'guest', size: 2 }] }, /disks.1: a disk of 2 MB is smaller/],
      [{ disk_size: 9, disks: [{ size: 1 }] }, /disk_size: .* there is no image/],
      [{ disks: [{ image: 'guest', path: '/a' }] }, /a path and an image/],
      [{ disks: [{ image: 'guest', colour: 'red' }] }, /colour: not known here/],
    ] as const) {
      const reply = await create(body)
      expect([reply.status, reply.body.message]).toEqual([400, expect.stringMatching(message)])
    }
    expect((await create({ image: 'none' })).status).toBe(404)
    const { status } = await create({ image: 'guest', disk_size: 64, disks: [{ image: 'guest' }, { size: 1 }] })
    expect(status).toBe(201)
    const [{ Home: home }] = (await ask('GET', '/machines/m')).body
    const { disks } = JSON.parse(readFileSync(join(home, 'machine.json'), 'utf8'))
    expect(disks.map(({ size }: { size: number }) => size / MB)).toEqual([64, 4, 1])
    expect((await ask('PUT', '/machines/m/start')).status).toBe(200)
    expect(await service.stop()).toBe(0)
  })

  test('an image whose file was changed is not used', async () => {
    using state = newState()
    await using server = await startFileServer()
    server.serve('/guest.img', rangesOf(buildGuestDisk()))
    const service = await startService({ state: state.path, driver: 'qemu', env })
    const ask = await createAsk(service)
    const { body: image } = await ask('POST', '/images', { name: 'guest', url: `${server.url}/guest.img` })
    expect((await ask('POST', '/machines', { name: 'm', memory: 16, image: 'guest' })).status).toBe(201)
    const file = join(state.path, 'images', `${image.digest}.qcow2`)
    const bytes = readFileSync(file)
    chmodSync(file, 0o600)
    writeFileSync(file, Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]))
    const changed = await ask('PUT', '/machines/m/start')
    expect([changed.status, changed.body.message]).toEqual([409, expect.stringMatching(/its content has changed/)])
    // The content counts, not the file.
    writeFileSync(file, bytes)
    expect((await ask('PUT', '/machines/m/start')).status).toBe(200)
    expect(await service.stop()).toBe(0)
  })

  test.skipIf(!canMount)('on a full disk a pull is refused with 507 and leaves nothing', async () => {
    using disk = newSmallDisk(96)
    await using server = await startFileServer()
    const bytes = randomBytes(48 * MB)
    const service = await startService({ state: disk.path, driver: 'qemu', env })
    const ask = await createAsk(service)
    server.serve('/told.img', rangesOf(Buffer.alloc(128 * MB)))
    // Without a length nobody knows before.
    server.serve('/untold.img', (_, response) => void response.writeHead(200).end(Buffer.alloc(128 * MB, 1)))
    server.serve('/twice.img', rangesOf(bytes))
    for (const name of ['told', 'untold', 'twice']) {
      const { status, body } = await ask('POST', '/images', { name, url: `${server.url}/${name}.img` })
      expect([name, status, body.message]).toEqual([name, 507, expect.stringMatching(/room|full|space/)])
      expect(readdirSync(join(disk.path, 'images', 'work'))).toEqual([])
    }
    expect(readdirSync(join(disk.path, 'images')).toSorted()).toEqual(['uploads', 'work'])
    expect((await ask('GET', '/images')).body).toEqual([])
    expect(await service.stop()).toBe(0)
  })
})
