import { createFetcher } from '#lib/objects/http/send.ts'
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createArtifactory } from '#lib/objects/artifactory/artifactory.ts'
import { getIncompletePath } from '#lib/objects/artifactory/incomplete-uploads.ts'
import { providerContract } from '../../../contracts/provider.ts'
import { newFolder } from '../../../support/folder.ts'
import { type NginxDav, nginxInstalled, startNginxDav } from '../../../support/servers/nginx-dav.ts'

const reason = nginxInstalled ? '' : ' (skipped: nginx and libnginx-mod-http-dav-ext are not installed)'

describe.skipIf(!nginxInstalled)(`artifactory on a plain WebDAV server, nginx${reason}`, () => {
  let folder: ReturnType<typeof newFolder>
  let server: NginxDav
  beforeAll(async () => {
    folder = newFolder()
    server = await startNginxDav(folder.path)
  })
  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
  beforeEach(() => rmSync(join(server.root, 'artifactory', 'packs'), { recursive: true, force: true }))

  const open = (meta: Record<string, string> = {}) => {
    const { url, username, password } = server
    return createArtifactory(
      { type: 'artifactory', meta: { url, repo: 'packs', username, password, ...meta } },
      createFetcher(),
    )
  }
  const source = (text: string) => ({ size: text.length, read: () => new Blob([text]).stream() })

  providerContract(open, open, 1024 * 1024, { resume: 'starts again', keepsSha256: false })

  test('a failed write leaves no files', async () => {
    const provider = await open()
    await provider.write('a/b', source('x'))
    const cut = { size: 10, read: () => new Blob(['short']).stream() }
    await expect(provider.write('a/c', cut)).rejects.toThrow('Of 10 bytes of a/c only 5 came')
    expect(readdirSync(join(server.root, 'artifactory/packs/a'))).toEqual(['b'])
  })

  test('removes the incomplete uploads of an object, and abandoned ones of other objects', async () => {
    const provider = await open()
    const [folder, longAgo] = [join(server.root, 'artifactory/packs/a'), new Date('2020-01-01')]
    const leave = (...names: readonly string[]): string[] =>
      names.map(name => {
        const part = getIncompletePath(['a', name], undefined).at(-1)!
        writeFileSync(join(folder, part), 'part')
        return part
      })
    await provider.write('a/b', source('x'))
    const [, old, young] = leave('b', 'old', 'young')
    utimesSync(join(folder, old!), longAgo, longAgo)
    await provider.write('a/b', source('y'))
    expect(readdirSync(folder).sort()).toEqual(['b', young])
    leave('b')
    await provider.remove('a/b')
    expect(readdirSync(folder)).toEqual([young])
  })

  test('does not list incomplete uploads of other clients', async () => {
    const provider = await open()
    await provider.write('a/b', source('x'))
    for (const part of ['.vmhost-other', getIncompletePath(['a', 'c'], undefined).at(-1)!])
      writeFileSync(join(server.root, 'artifactory/packs/a', part), 'part')
    const listed: string[] = []
    for await (const { path } of provider.list('')) listed.push(path)
    expect(listed).toEqual(['a/b'])
  })

  test('does not take a folder for an object, and neither replaces nor removes one', async () => {
    const provider = await open()
    mkdirSync(join(server.root, 'artifactory/packs/full of things+'), { recursive: true })
    writeFileSync(join(server.root, 'artifactory/packs/full of things+/precious'), 'x')
    const path = 'full of things+'
    expect(await provider.stat(path)).toBeUndefined()
    await expect(provider.read(path)).rejects.toMatchObject({ fault: 'not-found' })
    await provider.remove(path)
    await expect(provider.write(path, source('x'))).rejects.toMatchObject({ fault: 'conflict' })
    expect(existsSync(join(server.root, 'artifactory/packs/full of things+/precious'))).toBe(true)
    const listed: string[] = []
    for await (const object of provider.list('')) listed.push(object.path)
    expect(listed).toEqual(['full of things+/precious'])
  })

  test('reports refused credentials without naming them', async () => {
    const refused = expect(open({ password: 'wrong-horse' })).rejects
    await refused.toMatchObject({ fault: 'upstream', message: expect.stringContaining('refused the credentials') })
    await refused.not.toThrow('wrong-horse')
  })
})
