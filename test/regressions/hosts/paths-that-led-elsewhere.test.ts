import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Control, openControl } from '../../support/hosts/control.ts'
import { type ControlClient, openClient } from '../../support/hosts/control-client.ts'

const asked: string[] = []
let control: Control
let client: ControlClient
beforeEach(async () => {
  asked.length = 0
  control = await openControl({
    async fetch(url, { method }) {
      asked.push(`${method} ${new URL(url).pathname}`)
      return Response.json([])
    },
  })
  client = await openClient(control.app)
  const { body: host } = await client.asRoot('POST', '/hosts', { name: 'a', url: 'https://a.example.test' })
  const report = { version: '1', driver: 'embedded', architecture: 'x86_64' }
  await client.ask('PUT', `/hosts/${host.id}/heartbeat`, {
    headers: { 'x-host-key': host.key },
    body: { ...report, capacity: { cpus: 1, memory: 1, free_memory: 1 } },
  })
})
afterEach(() => control[Symbol.asyncDispose]())

/** Sends a path as it is. A `Request` of this runtime would leave its dots out, and that of the edge does not. */
const sendUnchanged = async (method: string, path: string, token: string): Promise<Response> => {
  const request = new Request('https://control.example.test', { method, headers: { authorization: `Bearer ${token}` } })
  Object.defineProperty(request, 'url', { value: `https://control.example.test/api/v1${path}` })
  return control.app.fetch(request, { address: '' })
}

test.each([
  ['PUT', '/machines/%2e%2e/start?host=a'],
  ['PUT', '/machines/%2e%2e/start'],
  ['GET', '/machines/%2e/status?host=a'],
  ['DELETE', '/machines/.%2e?host=a'],
])('%s %s reaches no other endpoint of a host', async (method, path) => {
  const token = await client.signInWith('alice', ['LIST_VM', 'UPDATE_VM_STATES', 'DELETE_VM'])
  const response = await sendUnchanged(method, path, token)
  expect(asked).toEqual([])
  expect(response.status).toBe(400)
})
