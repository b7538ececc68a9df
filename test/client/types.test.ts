import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildClient } from '#build/client/bundle.ts'
import examples from '#functions/examples.gen.json' with { type: 'json' }
import { routes } from '#functions/routes.gen.ts'
import { newFolder } from '../support/folder.ts'

const folder = newFolder()
const installed = join(folder.path, 'node_modules/vmhost')
beforeAll(async () => {
  mkdirSync(join(installed, 'dist'), { recursive: true })
  cpSync('package.json', join(installed, 'package.json'))
  await buildClient(join(installed, 'dist'))
  writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }')
})
afterAll(() => folder[Symbol.dispose]())

const strict =
  '--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --noPropertyAccessFromIndexSignature'
/** Programs for pages and programs for Node, which know the types of one platform only. */
const platforms = {
  'the types of browsers':
    '--target es2022 --lib es2022,dom --types  --module esnext --moduleResolution bundler --skipLibCheck false',
  'the types of Node': `--target es2024 --lib es2024,esnext.disposable --typeRoots ${resolve('node_modules/@types')} --types node --module nodenext --skipLibCheck false`,
}

/** What the compiler says of a program; nothing if it is right. */
const compile = (name: string, source: string, options: string): string => {
  writeFileSync(join(folder.path, name), source)
  const args = [resolve('node_modules/typescript/bin/tsc'), ...strict.split(' '), ...options.split(' '), name]
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder.path, encoding: 'utf8' })
  return stdout + stderr
}

const toCamelCase = (text: string): string => text.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The examples of the OpenAPI document as a program that gives each of them its type. */
const printExamples = (): string => {
  const declarations = routes.flatMap(({ id, endpoint: { media } }, at) => {
    const operation = `Api${id
      .split('/')
      .map(part => `['${toCamelCase(part)}']`)
      .join('')}`
    const { body, reply } = (examples as Record<string, { body?: unknown; reply?: unknown }>)[id] ?? {}
    const isJson = media === undefined || media === 'application/octet-stream'
    return [
      ...(body === undefined
        ? []
        : [`export const body${at}: NonNullable<Parameters<${operation}>[0]>['body'] = ${JSON.stringify(body)}`]),
      ...(reply === undefined || !isJson
        ? []
        : [`export const reply${at}: Awaited<ReturnType<${operation}>> = ${JSON.stringify(reply)}`]),
    ]
  })
  return `import type { Api } from 'vmhost/client'\n${declarations.join('\n')}\n`
}

/** The examples of a document in TypeScript, in the order in which they are there. */
const programOf = (document: string): string =>
  [...readFileSync(document, 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code).join('\n')

/** Mistakes that have to be found. */
const mistakes = `import { createClient } from 'vmhost/client'
const { api, follow } = createClient({ url: '', token: 'x' })
// @ts-expect-error -- a parameter is missing
await api.machines.start()
// @ts-expect-error -- another name
await api.machines.start({ params: { name: 'demo' } })
// @ts-expect-error -- a member of the body is missing
await api.machines.clone({ params: { id: 'demo' }, body: {} })
// @ts-expect-error -- not a type of events
createClient({ url: '' }).events({ types: ['nothing'] })
// @ts-expect-error -- it reads, so it has no key
await api.machines.list({ idempotencyKey: 'x' })
// @ts-expect-error -- it is never a job
await api.machines.set({ params: { id: 'demo' }, body: { operations: [] }, async: true })
// @ts-expect-error -- no such operation
await api.machines.explode({ params: { id: 'demo' } })
const job = await api.machines.start({ params: { id: 'demo' }, async: true })
const { result } = await follow(job)
const status: string | undefined = result?.status
// @ts-expect-error -- it has no such member
const missing = result?.nothing
console.log(status, missing)
`

describe.each(Object.entries(platforms))('with %s', (_, options) => {
  test('the examples of the document compile', () => {
    const source = programOf('docs/client.md')
    expect(source).toContain("from 'vmhost/client'")
    expect(compile('document.ts', source, options)).toBe('')
  })

  test('the recorded examples have the types of the operations', () => {
    const source = printExamples()
    expect(source.match(/export const reply/g)!.length).toBeGreaterThan(routes.length / 2)
    expect(compile('examples.ts', source, options)).toBe('')
  })

  test('mistakes are found', () => {
    expect(compile('mistakes.ts', mistakes, options)).toBe('')
  })
})
