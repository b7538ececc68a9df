import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newFolder } from '../support/folder.ts'
import { newState, rootPassword } from '../support/service.ts'

const documents = ['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md']

/** What a checkout has that was never built. */
const sources = [
  'bin',
  'build',
  'functions',
  'lib',
  'package.json',
  'tsconfig.json',
  '.npmrc',
  ...documents,
  'LICENSE',
  'docs',
]

describe('the package', () => {
  const folder = newFolder()
  const checkout = join(folder.path, 'checkout')
  const inPrefix = join(folder.path, 'prefix/bin/vmhost')
  const inProject = join(folder.path, 'project/node_modules/.bin/vmhost')
  /** A PATH whose Node is of no use, as an old one is. */
  const path = `${join(folder.path, 'old')}:${process.env['PATH']}`
  const npm = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], { cwd, encoding: 'utf8' })

  beforeAll(() => {
    mkdirSync(checkout)
    for (const name of sources) cpSync(name, join(checkout, name), { recursive: true })
    symlinkSync(resolve('node_modules'), join(checkout, 'node_modules'))
    npm(checkout, 'run', 'pack')
    const [tarball] = globSync(join(checkout, '*.tgz'))
    npm(folder.path, 'install', '--prefer-offline', '--global', '--prefix', join(folder.path, 'prefix'), tarball!)
    mkdirSync(join(folder.path, 'project'))
    npm(join(folder.path, 'project'), 'install', '--prefer-offline', tarball!)
    mkdirSync(join(folder.path, 'old'))
    writeFileSync(join(folder.path, 'old/node'), '#!/bin/sh\necho this Node is too old >&2\nexit 9\n', { mode: 0o755 })
  }, 300_000)
  afterAll(() => folder[Symbol.dispose]())

  test('contains the built program and its files, and depends only on its Node', () => {
    const packed = join(folder.path, 'prefix/lib/node_modules/vmhost')
    expect(readdirSync(packed).sort()).toEqual(
      [...documents, 'LICENSE', 'bin', 'dist', 'docs', 'node_modules', 'package.json'].sort(),
    )
    expect(readdirSync(join(packed, 'dist')).sort()).toEqual([
      'LICENSES.txt',
      'api-description.json',
      'chunks',
      'client.d.ts',
      'client.mjs',
      'events.mjs',
      'recorder.mjs',
      'vmhost.mjs',
      'web-console.json',
      'worker.mjs',
    ])
    expect(readdirSync(join(packed, 'node_modules')).filter(name => !/^\.|^node-/.test(name))).toEqual([])
  })

  test('has the client for programs that depend on it', () => {
    const program =
      "import { createClient } from 'vmhost/client'; console.log(typeof createClient({ url: 'http://x' }).api.machines.list)"
    const project = join(folder.path, 'project')
    expect(
      execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd: project, encoding: 'utf8' }),
    ).toBe('function\n')
  })

  test('contains every file that its documents link to', () => {
    const packed = join(folder.path, 'prefix/lib/node_modules/vmhost')
    const missing = [...documents, ...globSync('docs/**/*.md', { cwd: packed })].flatMap(name =>
      [...readFileSync(join(packed, name), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)]
        .map(match => match[1]!)
        .filter(link => !existsSync(join(packed, dirname(name), link)))
        .map(link => `${name} links to ${link}`),
    )
    expect(missing).toEqual([])
  })

  test.each([
    ['for everybody', inPrefix],
    ['in a project', inProject],
  ])('installed %s runs under the Node that came with it', (_, program) => {
    const shown = execFileSync(program, ['-V'], { encoding: 'utf8', env: { PATH: path }, cwd: folder.path })
    expect(shown).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('serves the demo machine', async () => {
    using state = newState()
    const service = spawn(inPrefix, ['serve'], {
      cwd: folder.path,
      env: {
        PATH: path,
        HOME: state.path,
        VMHOST_STATE: state.path,
        VMHOST_DRIVER: 'embedded',
        VMHOST_LISTEN: 'http://127.0.0.1:0',
        VMHOST_ROOT_PASSWORD: rootPassword,
      },
    })
    try {
      const log = text(service.stderr)
      let printed = ''
      for await (const chunk of service.stdout.iterator({ destroyOnReturn: false })) {
        printed += String(chunk)
        if (printed.includes('/status')) break
      }
      const url = /vmhost serves (\S+)/.exec(printed)?.[1]
      if (url === undefined) throw new Error(await log)
      const ask = async (method: string, at: string, more: RequestInit = {}) =>
        (await fetch(`${url}/api/v1${at}`, { method, ...more })).json()
      const body = JSON.stringify({ email: 'root', password: rootPassword })
      const { token } = (await ask('POST', '/auth/token', { body })) as { token: string }
      const headers = { authorization: `Bearer ${token}` }
      expect(await ask('PUT', '/machines/demo/start', { headers })).toMatchObject({ status: 'Success' })
      // The launcher became the service: the signal reaches it.
      service.kill('SIGTERM')
      expect(await once(service, 'exit')).toEqual([0, null])
    } finally {
      service.kill('SIGKILL')
    }
  })

  test('works in a checkout, and builds the program there if necessary', () => {
    rmSync(join(checkout, 'dist'), { recursive: true })
    const shown = execFileSync('npx', ['vmhost', '-V'], { cwd: checkout, encoding: 'utf8', stdio: 'pipe' })
    expect(shown).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('reports that the program is missing from a package without it', () => {
    const packed = join(folder.path, 'prefix/lib/node_modules/vmhost')
    rmSync(join(packed, 'dist/vmhost.mjs'))
    expect(() => execFileSync(inPrefix, ['-V'], { stdio: 'pipe', env: { PATH: path } })).toThrow('npm run pack')
  })
})
