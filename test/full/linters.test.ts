import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DescribedService, installFromNpm, run, startDescribedService } from './openapi-service.ts'

let service: DescribedService
beforeAll(async () => {
  service = await startDescribedService()
})
afterAll(() => service[Symbol.asyncDispose]())

/** The paths of the operations that answer with a WebSocket alone: each has 101 and no 2xx, where both linters want a 2xx. */
const listWebSocketPaths = (): string[] => {
  const { paths } = JSON.parse(readFileSync(service.document, 'utf8')) as {
    paths: Record<string, { get?: { responses: object } }>
  }
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const statuses = Object.keys(get?.responses ?? {})
    return statuses.includes('101') && !statuses.includes('200') ? [path] : []
  })
}

test('redocly finds nothing by its recommended rules but that WebSockets have no 2xx', async () => {
  const folder = service.folder('redocly')
  await installFromNpm(folder, ['@redocly/cli@2.77.0'])
  const { output } = await run(folder, 'redocly', ['lint', service.document, '--extends=recommended', '--format=json'])
  const { problems } = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1)) as {
    problems: readonly { ruleId: string; location: readonly { pointer: string }[] }[]
  }
  const found = problems.map(({ ruleId, location }) => [ruleId, location[0]?.pointer])
  const pointers = listWebSocketPaths().map(path => `#/paths/${path.replaceAll('/', '~1')}/get/responses`)
  expect(found).toEqual(pointers.map(pointer => ['operation-2xx-response', pointer]))
})

test('spectral finds nothing by spectral:oas but that', async () => {
  const folder = service.folder('spectral')
  await installFromNpm(folder, ['@stoplight/spectral-cli@6.16.3'])
  writeFileSync(join(folder, 'rules.yaml'), 'extends: ["spectral:oas"]\n')
  const { output } = await run(folder, 'spectral', ['lint', service.document, '-r', 'rules.yaml', '-f', 'json', '-q'])
  const problems = JSON.parse(output) as readonly { code: string; path: readonly string[] }[]
  const places = listWebSocketPaths().map(path => `paths ${path} get responses`)
  expect(problems.map(({ code, path }) => [code, path.join(' ')])).toEqual(
    places.map(place => ['operation-success-response', place]),
  )
})
