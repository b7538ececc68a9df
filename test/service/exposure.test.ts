import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { routes } from '#functions/routes.gen.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { hostRoutes } from '#lib/compose/hosts/host-routes.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { listMethodPaths } from '#lib/http/method-table.ts'
import { newFolder } from '../support/folder.ts'
import { connectionTo, startHost } from '../support/transfers.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'

const build = (folder: string, ...args: readonly string[]): string =>
  execFileSync(process.execPath, ['build/bundle.ts', '--folder', folder, ...args], { encoding: 'utf8', stdio: 'pipe' })

/** The names of the packages whose code is in a build. */
const packagesIn = (folder: string): string[] =>
  [...readFileSync(join(folder, 'LICENSES.txt'), 'utf8').matchAll(/^((?:@[\w-]+\/)?[\w.-]+) \d+\.\d+\.\d+/gm)].map(
    match => match[1]!,
  )

/** The paths of some routes, each with its method, as a client calls them. */
const callsTo = (list: readonly Route[]): string[] =>
  list.flatMap(({ endpoint }) => listMethodPaths(endpoint).map(([method, path]) => `${method} ${toServedPath(path)}`))

/** Texts that are in a build that has the endpoint. */
const summaryOf = ({ endpoint }: Route): string => `summary:${JSON.stringify(endpoint.summary)}`
const rowOf = ({ id }: Route): string => `id:${JSON.stringify(id)}`

/** The commands as data: they can call every service, so a build has all of them, and some have the summary of their endpoint. */
const hasCommands = (text: string): boolean => /\boperation:"\w+\.\w+"/.test(text)

/** Gives a function that tells whether a text is in one of the files of a folder. */
const readFiles = (folder: string, pattern: string): ((text: string) => boolean) => {
  const files = globSync(join(folder, pattern)).map(file => readFileSync(file, 'utf8'))
  const texts = files.filter(text => !hasCommands(text))
  return text => texts.some(file => file.includes(text))
}

const sshPackages = ['asn1', 'bcrypt-pbkdf', 'safer-buffer', 'ssh2', 'tweetnacl']

const examples = [
  {
    name: 'catalog-only',
    served: ['catalog/list', 'catalog/register', 'catalog/download', 'users/create', 'events/subscribe', 'jobs/show'],
    excluded: ['machines/list', 'machines/start', 'catalog/push', 'catalog/pull-async', 'ssh/execute', 'license/show'],
    packages: [...sshPackages, 'v86'],
    driver: 'no driver',
  },
  {
    name: 'read-only-gateway',
    served: ['machines/list', 'machines/status', 'catalog/list', 'metrics/show', 'auth/sign-out'],
    excluded: [
      'machines/start',
      'machines/create',
      'users/create',
      'catalog/push',
      'auth/change-password',
      'ssh/execute',
    ],
    packages: sshPackages,
    driver: 'v86',
    refusedCommand: 'keys rotate',
  },
  {
    name: 'machines-without-ssh',
    served: hostRoutes.map(({ id }) => id).filter(id => id !== 'ssh/execute'),
    excluded: ['ssh/execute'],
    packages: sshPackages,
    driver: 'v86',
  },
]

describe.each(examples)(
  'the build of docs/examples/$name',
  ({ name, served, excluded, packages, driver, refusedCommand }) => {
    const config = resolve('docs/examples', name, 'vmhost.toml')
    const folder = newFolder()
    const state = newState()
    let service: Service
    let ids: ReadonlySet<string>
    const within = (): Route[] => hostRoutes.filter(({ id }) => ids.has(id))
    const without = (): Route[] => hostRoutes.filter(({ id }) => !ids.has(id))

    beforeAll(async () => {
      build(folder.path, '--config', config)
      const rows: { id: string }[] = JSON.parse(readFileSync(join(folder.path, 'routes.json'), 'utf8'))
      ids = new Set(rows.map(({ id }) => id))
      service = await startService({
        program: join(folder.path, 'vmhost.mjs'),
        state: state.path,
        env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0' },
        args: ['--config', config],
      })
    })
    afterAll(() => {
      state[Symbol.dispose]()
      folder[Symbol.dispose]()
    })

    test('has the endpoints that the example is for', () => {
      expect([...ids]).toEqual(expect.arrayContaining(served))
      expect(excluded.filter(id => ids.has(id))).toEqual([])
      expect(service.printed).toContain(` on ${driver}\n`)
    })

    test('has no text of the handlers that it leaves out, and no library that only they use', () => {
      // The client can call every service, so it has all endpoints whatever is built beside it.
      const present = readFiles(folder.path, '{,chunks/}!(client).{mjs,json}')
      const pathsOf = ({ endpoint }: Route): string[] =>
        listMethodPaths(endpoint).map(([, path]) => JSON.stringify(path))
      // The same marks are there of what is served, so their absence means something.
      expect(within().filter(route => !present(rowOf(route)) || !present(summaryOf(route)))).toEqual([])
      const kept = new Set(within().flatMap(pathsOf))
      const marks = without().flatMap(route => [rowOf(route), summaryOf(route), ...pathsOf(route)])
      expect(marks.filter(mark => !kept.has(mark)).filter(present)).toEqual([])
      const presentAtEdge = readFiles(folder.path, 'edge/*.mjs')
      const { rows }: { rows: { id: string }[] } = JSON.parse(readFileSync(join(folder.path, 'endpoints.json'), 'utf8'))
      const builtIds = new Set(rows.map(({ id }) => id))
      expect(within().filter(route => !presentAtEdge(rowOf(route)))).toEqual([])
      const leftOut = routes.filter(({ id }) => !builtIds.has(id))
      expect(leftOut.flatMap(route => [rowOf(route), summaryOf(route)]).filter(presentAtEdge)).toEqual([])
      const all = packagesIn(resolve('dist'))
      const left = new Set(packagesIn(folder.path))
      expect(all.filter(one => !left.has(one)).sort()).toEqual(packages)
      expect(present('ssh2js')).toBe(false)
      expect(globSync(join(folder.path, '{recorder.mjs,chunks/v86.wasm}'))).toHaveLength(driver === 'v86' ? 2 : 0)
    })

    test('describes and lists exactly what it serves', async () => {
      const { body } = await service.call('GET', '/api/openapi.json')
      const described = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
        Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
      )
      expect(described.sort()).toEqual(callsTo(within()).sort())
      expect(body.info.description).toContain('vmhost')
      const program = join(folder.path, 'vmhost.mjs')
      const args = [program, 'routes', '--json', '--config', config]
      const listed: { id: string }[] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
      expect(listed.map(({ id }) => id)).toEqual([...ids])
    })

    test.runIf(refusedCommand)('names the endpoint that a command needs and the build does not have', () => {
      const args = [join(folder.path, 'vmhost.mjs'), ...refusedCommand!.split(' '), '--state', state.path]
      expect(() => execFileSync(process.execPath, args, { stdio: 'pipe' })).toThrow(
        'does not have POST /api/v1/auth/key/rotate, which this command needs.',
      )
    })

    test('answers what it serves, and knows nothing of the rest', async () => {
      const token = await service.signIn()
      const reads = within().filter(
        ({ endpoint }) => endpoint.effect === 'read' && !endpoint.path.includes('{') && endpoint.media === undefined,
      )
      for (const { endpoint } of reads) {
        const { status } = await service.call(endpoint.method, toServedPath(endpoint.path), { token })
        expect([200, 400], `${endpoint.method} ${endpoint.path}`).toContain(status)
      }
      const paths = new Set(within().flatMap(({ endpoint }) => listMethodPaths(endpoint).map(([, path]) => path)))
      for (const { endpoint } of without())
        for (const [method, path] of listMethodPaths(endpoint)) {
          const at = toServedPath(path).replace(/\{\w+\}/g, 'any')
          const { status, body } = await service.call(method, at, { token })
          // To another endpoint that the path also matches, its last part is an id that cannot be: 400.
          expect(paths.has(path) ? [405] : [400, 404, 405], `${method} ${path}`).toContain(status)
          expect(body).toMatchObject({ code: status })
        }
    })
  },
)

test('a catalog without machines gives packs to hosts, and leaves the machines of its state folder alone', async () => {
  using folder = newFolder()
  using state = newState()
  using other = newState()
  const config = resolve('docs/examples/catalog-only/vmhost.toml')
  build(folder.path, '--config', config)

  const before = await startHost(state.path, 'embedded', { VMHOST_DEMO: 'on' })
  const pushed = await before.call('POST', '/catalog/push', {
    catalog_id: 'demo',
    version: '1',
    connection: 'provider=local-storage',
    uuid: 'demo',
  })
  expect(pushed.status, pushed.body.message).toBe(200)
  await before.service.stop()

  const program = join(folder.path, 'vmhost.mjs')
  const catalog = await startHost(state.path, 'embedded', {}, { program, args: ['--config', config] })
  expect((await catalog.call('GET', '/machines')).status).toBe(404)
  const host = await startHost(other.path, 'embedded', { VMHOST_OUTGOING_ADDRESSES: '127.0.0.1' })
  const pull = { catalog_id: 'demo', machine_name: 'pulled', connection: connectionTo(catalog) }
  const pulled = await host.call('PUT', '/catalog/pull', pull)
  expect(pulled.status, pulled.body.message).toBe(200)
  expect((await host.call('GET', '/machines/pulled/status')).body).toMatchObject({ status: 'stopped' })
  await Promise.all([host.service.stop(), catalog.service.stop()])

  const after = await startHost(state.path, 'embedded')
  expect((await after.call('GET', '/machines')).body).toMatchObject([{ Name: 'demo' }])
  await after.service.stop()
})

describe('a build of a selection', () => {
  test.each([
    [
      'a pattern that matches nothing',
      ['--exclude', 'machine/*'],
      /routes_exclude has machine\/\* \(did you mean machines\/\*\?\)/,
    ],
    ['a misspelled endpoint', ['--include', 'auth/*,ssh/exeute'], /ssh\/exeute \(did you mean ssh\/execute\?\)/],
    ['no sign-in', ['--exclude', 'auth/*'], /leave out auth\/sign-in, which .* need: without it, nobody gets a token/],
    ['a configuration that is not there', ['--config', '/nowhere.toml'], /\/nowhere\.toml cannot be read/],
  ])('is refused with %s', (_, args, message) => {
    using folder = newFolder()
    expect(() => build(folder.path, ...args)).toThrow(message)
    expect(globSync(join(folder.path, '*'))).toEqual([])
  })
})
