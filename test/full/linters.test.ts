import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DescribedService, installFromNpm, run, startDescribedService } from './openapi-service.ts'

let service: DescribedService
beforeAll(async () => {
  service = await startDescribedService()
})
afterAll(() => service[Symbol.asyncDispose]())

// Both want a success below 400 of each operation that is none of 1xx: the WebSocket has 101, and nothing else.
const onlyTheWebSocket = { redocly: 'operation-2xx-response', spectral: 'operation-success-response' }

test('redocly finds nothing by its recommended rules but that a WebSocket has no 2xx', async () => {
  const folder = service.folder('redocly')
  await installFromNpm(folder, ['@redocly/cli@2.77.0'])
  const { output } = await run(folder, 'redocly', ['lint', service.document, '--extends=recommended', '--format=json'])
  const { problems } = JSON.parse(output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1))
  expect(problems.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual([onlyTheWebSocket.redocly])
})

test('spectral finds nothing by spectral:oas but that', async () => {
  const folder = service.folder('spectral')
  await installFromNpm(folder, ['@stoplight/spectral-cli@6.16.3'])
  writeFileSync(join(folder, 'rules.yaml'), 'extends: ["spectral:oas"]\n')
  const { output } = await run(folder, 'spectral', ['lint', service.document, '-r', 'rules.yaml', '-f', 'json', '-q'])
  expect(JSON.parse(output).map(({ code }: { code: string }) => code)).toEqual([onlyTheWebSocket.spectral])
})
