import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findProgram } from '../support/programs.ts'
import {
  type DescribedService,
  installFromNpm,
  installFromPyPi,
  run,
  startDescribedService,
} from './openapi-service.ts'

let service: DescribedService
beforeAll(async () => {
  service = await startDescribedService()
})
afterAll(() => service[Symbol.asyncDispose]())

const place = (folder: string, file: string, as: string): void =>
  copyFileSync(join(import.meta.dirname, 'clients', file), join(folder, as))

/** What the ten calls of each client say. */
const expected = ['root@localhost', 0, 201, 'Start', 'running', 'Stop', 202, 0, 'root', true]

/** The first block of a language on the page about clients. */
const readProgram = (language: string): string => {
  const page = readFileSync('docs/clients.md', 'utf8')
  return new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(page)?.[1] ?? ''
}

/** What each program of the page ends with. */
const demoRuns = { code: 0, output: 'demo running\n' }

/** Creates the machine that the programs of the page start, and gives the environment that they need. */
const prepareProgram = async (): Promise<Readonly<Record<string, string>>> => {
  const headers = { authorization: `Bearer ${await service.signIn('root')}`, 'content-type': 'application/json' }
  const post = async (path: string, body: object) =>
    (await fetch(`${service.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  // The second time it is there.
  await post('/machines', { name: 'demo', memory: 16, kernel: service.env['KERNEL'] })
  const { encoded } = await post('/auth/api_keys', {
    name: `builds-${crypto.randomUUID()}`,
    claims: ['LIST_VM', 'UPDATE_VM_STATES'],
  })
  return { VMHOST_URL: service.url, VMHOST_API_KEY: encoded }
}

/** Holds the calls with the client to TypeScript's strict rules, and makes them. */
const compileAndCall = async (folder: string): Promise<unknown> => {
  const options =
    '--noEmit --strict --target es2022 --module esnext --moduleResolution bundler --lib es2023,dom,dom.iterable'
  writeFileSync(
    join(folder, 'process.d.ts'),
    'declare const process: { readonly env: Readonly<Record<string, string | undefined>> }\n',
  )
  const compiled = await run(folder, process.execPath, [
    resolve('node_modules/typescript/bin/tsc'),
    ...options.split(' '),
    'process.d.ts',
    'calls.ts',
  ])
  expect(compiled.output).toBe('')
  const outfile = join(folder, 'calls.mjs')
  await build({ entryPoints: [join(folder, 'calls.ts')], outfile, bundle: true, platform: 'node', format: 'esm' })
  const { output } = await run(folder, process.execPath, [outfile], service.env)
  return JSON.parse(output)
}

const generate = async (folder: string, program: string, args: readonly string[]): Promise<void> => {
  const { code, output } = await run(folder, program, args)
  expect(code, output).toBe(0)
  expect(output).not.toMatch(/\bwarn|\berror/i)
}

test('openapi-typescript with openapi-fetch', async () => {
  const folder = service.folder('openapi-typescript')
  await installFromNpm(folder, ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'])
  await generate(folder, 'openapi-typescript', [service.document, '--output', 'schema.ts'])
  place(folder, 'openapi-fetch.ts.txt', 'calls.ts')
  expect(await compileAndCall(folder)).toEqual(expected)
})

test('@hey-api/openapi-ts', async () => {
  const folder = service.folder('hey-api')
  await installFromNpm(folder, ['@hey-api/openapi-ts@0.99.0', 'typescript@5.9.3'])
  await generate(folder, 'openapi-ts', ['-i', service.document, '-o', 'client', '-c', '@hey-api/client-fetch'])
  place(folder, 'hey-api.ts.txt', 'calls.ts')
  expect(await compileAndCall(folder)).toEqual(expected)
})

test('orval', async () => {
  const folder = service.folder('orval')
  await installFromNpm(folder, ['orval@7.13.2', 'typescript@5.9.3'])
  place(folder, 'orval-fetcher.ts.txt', 'fetcher.ts')
  const output = {
    target: './client.ts',
    client: 'fetch',
    override: { mutator: { path: './fetcher.ts', name: 'send' } },
  }
  writeFileSync(
    join(folder, 'orval.config.mjs'),
    `export default ${JSON.stringify({ vmhost: { input: service.document, output } })}`,
  )
  await generate(folder, 'orval', [])
  place(folder, 'orval.ts.txt', 'calls.ts')
  expect(await compileAndCall(folder)).toEqual(expected)
})

test('openapi-python-client', async () => {
  const folder = service.folder('python')
  await installFromPyPi(folder, ['openapi-python-client==0.29.1', 'mypy==1.18.2'])
  // A picture is bytes, which it does not know by itself.
  writeFileSync(
    join(folder, 'config.json'),
    '{ "content_type_overrides": { "image/png": "application/octet-stream" } }',
  )
  const paths = ['--path', service.document, '--output-path', 'client', '--config', 'config.json']
  const args = ['generate', ...paths, '--meta', 'none']
  await generate(folder, 'openapi-python-client', args)
  // The file that each client has alike breaks its own rules, whatever the document says.
  const checked = await run(folder, 'mypy', ['--follow-imports=silent', 'client/api', 'client/models'])
  expect(checked.output).toMatch(/^Success: no issues found/)
  place(folder, 'python.py', 'calls.py')
  const { output } = await run(folder, 'python', ['calls.py'], service.env)
  expect(JSON.parse(output)).toEqual(expected)
  writeFileSync(join(folder, 'program.py'), readProgram('python'))
  expect(await run(folder, 'python', ['program.py'], await prepareProgram())).toEqual(demoRuns)
})

test.skipIf(!findProgram('go'))('oapi-codegen, in Go', async () => {
  const folder = service.folder('go')
  mkdirSync(join(folder, 'vmhost'))
  copyFileSync(service.document, join(folder, 'openapi.json'))
  writeFileSync(join(folder, 'main.go'), readProgram('go'))
  writeFileSync(join(folder, 'oapi-codegen.yaml'), readProgram('yaml'))
  const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2'
  for (const args of [
    ['mod', 'init', 'example.org/builds'],
    ['run', generator, '--config', 'oapi-codegen.yaml', 'openapi.json'],
    ['mod', 'tidy'],
    ['build', '-o', 'program', '.'],
  ]) {
    const { code, output } = await run(folder, 'go', args)
    expect(code, output).toBe(0)
  }
  expect(await run(folder, join(folder, 'program'), [], await prepareProgram())).toEqual(demoRuns)
})
