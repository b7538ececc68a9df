import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { EventMessage } from '#lib/events/event.ts'
import { withoutQemu } from '../support/drivers/qemu.ts'
import { readPrintedPassword, serveExecutable, whySkipped, withoutExecutable } from '../support/executable.ts'
import { rounds } from '../support/rounds.ts'
import { newState, type Service } from '../support/service.ts'
import { until } from '../support/waiting.ts'

/** Collects the events that a client of the service gets. */
const subscribe = async (service: Service, token: string): Promise<readonly EventMessage[]> => {
  const messages: EventMessage[] = []
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/api/v1/ws/subscribe?event_types=pdfm`, {
    headers: { authorization: `Bearer ${token}` },
  })
  socket.on('message', (data: Buffer) => void messages.push(JSON.parse(data.toString())))
  await until(() => expect(messages).not.toEqual([]))
  return messages
}

/** Asks for an operation of the demo machine, and expects it to be done. */
const act = async (service: Service, token: string, verb: string): Promise<void> => {
  const { body } = await service.call('PUT', `/api/v1/machines/demo/${verb}`, { token })
  expect(body).toMatchObject({ status: 'Success' })
}

/** The serial output of the only machine. */
const readSerialLog = (state: string): string => {
  const [file = ''] = globSync(join(state, 'machines/*/*/serial.log'))
  return readFileSync(file, 'latin1')
}

describe.skipIf(withoutExecutable)(`the service of the executable, without an environment${whySkipped}`, () => {
  test.for(rounds(['process'] as const, ['inline', 'process'] as const))(
    'runs the demo machine and sends its events: %s',
    async events => {
      using state = newState()
      const service = await serveExecutable(state.path, { args: ['--events', events] })
      const token = await service.signIn(readPrintedPassword(service))
      const messages = await subscribe(service, token)
      expect(service.eventsProcess() !== undefined).toBe(events === 'process')
      await act(service, token, 'start')
      await until(() => expect(readSerialLog(state.path)).toMatch(/MB BOOT 00000001\s+T 00000001/))
      for (const verb of ['suspend', 'resume', 'stop']) await act(service, token, verb)
      const reached = (): unknown[] => messages.slice(1).map(({ body }) => body!['current_state'])
      await until(() => expect(reached()).toEqual(expect.arrayContaining(['running', 'suspended', 'stopped'])))
      expect(await service.stop()).toBe(0)
    },
  )

  test('serves HTTPS with its own certificate, and the OpenAPI document with texts and examples', async () => {
    using state = newState()
    const service = await serveExecutable(state.path, { listen: 'https', args: ['--demo', 'off'] })
    expect(service.url).toMatch(/^https:/)
    const { status, body } = await service.call('GET', '/api/openapi.json')
    expect(status).toBe(200)
    expect(body.paths['/api/v1/machines'].get).toMatchObject({ description: expect.stringMatching(/./) })
    expect(JSON.stringify(body)).toContain('"examples"')
    expect(await service.stop()).toBe(0)
  })

  test.skipIf(withoutQemu)('runs a QEMU machine, whose recorder and guest outlive it', async () => {
    using state = newState()
    // QEMU is looked for on PATH.
    const environment = { PATH: process.env['PATH']! }
    const first = await serveExecutable(state.path, { driver: 'qemu', environment })
    const password = readPrintedPassword(first)
    await act(first, await first.signIn(password), 'start')
    expect(await first.stop()).toBe(0)
    const second = await serveExecutable(state.path, { driver: 'qemu', environment })
    const token = await second.signIn(password)
    await until(() => expect(readSerialLog(state.path)).toContain('T 00000003'))
    expect(readSerialLog(state.path).match(/MB BOOT/g)).toHaveLength(1)
    await act(second, token, 'suspend')
    await act(second, token, 'resume')
    await act(second, token, 'stop')
    expect(await second.stop()).toBe(0)
  })
})
