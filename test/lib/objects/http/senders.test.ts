import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFetchFetcher } from '#lib/objects/http/send-over-fetch.ts'
import { createFetcher } from '#lib/objects/http/send.ts'
import { createFetchOutgoing } from '#lib/platform/outgoing-fetch.ts'
import { createOutgoing } from '#lib/platform/outgoing.ts'
import { fetcherContract } from '../../../contracts/fetcher.ts'
import { outgoingContract } from '../../../contracts/outgoing.ts'
import { type ScenarioServer, startScenarios } from '../../../support/servers/scenarios.ts'

let server: ScenarioServer
beforeAll(async () => {
  server = await startScenarios()
})
afterAll(() => server[Symbol.asyncDispose]())

fetcherContract('over connections of Node', createFetcher, () => server)
fetcherContract('over fetch', createFetchFetcher, () => server)
outgoingContract('over connections of Node', createOutgoing, () => server)
outgoingContract('over fetch', createFetchOutgoing, () => server)

test('a fetcher over fetch says that it verifies every certificate', () => {
  expect(() => createFetchFetcher({ ignoreCertificate: true })).toThrow('leave ignore_cert out')
})
