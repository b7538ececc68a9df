import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import { openListener } from '#lib/listener/listener.ts'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { createTunnels } from '#lib/machines/tunnels/tunnels.ts'
import type { Principal } from '#lib/access/principal.ts'
import { every } from '#lib/async/every.ts'
import { createApp } from '#lib/http/app.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import consoleEndpoint from '#functions/machines/console.ts'
import waitEndpoint from '#functions/machines/wait.ts'
import { callOf, host } from '../support/harness.ts'
import { newEventLog } from '../support/events.ts'
import { refuseImage } from '../support/images.ts'
import { until } from '../support/waiting.ts'
import { openConsoleSocket } from '../support/guests/console-client.ts'
import type { Workbench } from './hypervisor.ts'

type Bench = Pick<Workbench, 'driver' | 'machine' | 'close'>

/** A service with one machine on a driver, over real connections. */
const openService = async (bench: Bench) => {
  const driver = await bench.driver()
  const open = async (): Promise<Machines> =>
    openMachines({ driver, host, leaseImage: refuseImage, stopTimeout: 30_000, ...(await newEventLog()) })
  const machines = await open()
  const caller: { -readonly [M in keyof Principal]: Principal[M] } = {
    id: randomUUID(),
    username: 'jane',
    email: '',
    roles: [],
    claims: new Set(['LIST_VM', 'EXECUTE_COMMAND_VM']),
    superUser: false,
  }
  let isSignedIn = true
  const tunnels = createTunnels(every)
  const app = createApp({
    routes: [
      { id: 'machines/console', endpoint: consoleEndpoint },
      { id: 'machines/wait', endpoint: waitEndpoint },
    ],
    services: { machines, tunnels },
    authenticate: async () => {
      if (!isSignedIn) throw new ServiceError('unauthenticated', 'The session has ended.')
      return { ...caller }
    },
    onOutcome: () => {},
    checkReplies: true,
  })
  const listener = await openListener({
    address: new URL('http://127.0.0.1:0'),
    clientAddress: createClientAddress([]),
    ...app,
  })
  await machines.create({ ...bench.machine('one'), disks: [...bench.machine('one').disks] } as never)
  const call = callOf(app)
  const wait = async (condition: string, more = ''): Promise<Record<string, unknown>> =>
    (await call('GET', `/api/v1/machines/one/wait?for=${encodeURIComponent(condition)}&timeout=120${more}`)).body
  const attach = (query = '') =>
    openConsoleSocket(`${listener.url.replace('http', 'ws')}/api/v1/machines/one/console${query}`, {})
  return {
    machines,
    call,
    caller,
    wait,
    attach,
    signOut: () => void (isSignedIn = false),
    async [Symbol.asyncDispose]() {
      tunnels[Symbol.dispose]()
      await machines.run('one', 'stop', { force: true }).catch(() => {})
      await listener.close(AbortSignal.timeout(0))
      await machines.close()
      await bench.close()
    },
  }
}

/**
 * The rules of consoles and waits, which hold on every driver. The guest prints `BOOT` with the number of its boot, then ticks; it
 * echoes the key i, and q powers it off.
 */
export const consoleContract = (name: string, createBench: () => Promise<Bench>): void => {
  describe(`consoles and waits: ${name}`, () => {
    test('output is recorded from the boot on, found by a wait, and input reaches the guest', async () => {
      await using service = await openService(await createBench())
      const { machines, wait, attach, call } = service
      await machines.run('one', 'start')
      const booted = await wait('serial:BOOT 0*1\\b')
      expect(booted).toMatchObject({ result: 'met', current_state: 'running', cursor: expect.stringMatching(/^\d+$/) })

      const writer = await attach('?writer=claim')
      const reader = await attach()
      writer.socket.send(Buffer.from('i'))
      await until(() => expect(writer.output()).toMatch(/BOOT[^]*i/))
      await until(() => expect(reader.output()).toMatch(/BOOT[^]*i/))

      // A reader that returns goes on where it was, without a gap.
      const known = reader.output().length
      reader.socket.terminate()
      const again = await attach(`?offset=${known}`)
      await until(() => expect(again.output().length).toBeGreaterThan(20))
      const whole = Buffer.from(reader.output().slice(0, known) + again.output(), 'latin1').toString()
      const { body } = await call('GET', '/api/v1/machines/one/console?follow=false')
      expect(body.slice(0, whole.length)).toBe(whole.slice(0, body.length))
      expect((await call('GET', '/api/v1/machines/one/console?follow=false&search=BOOT')).body).toMatch(
        /^\d+:.*BOOT 0*1\n$/,
      )
      for (const { socket } of [writer, again]) socket.terminate()
    })

    test('a console outlives the power-off and the next start; a wait sees the new boot alone', async () => {
      await using service = await openService(await createBench())
      const { machines, wait, attach } = service
      const { cursor: _, ...first } = await wait('event:VM_STATE_CHANGED', '&timeout=0')
      expect(first).toMatchObject({ result: 'timeout', current_state: 'stopped' })
      await machines.run('one', 'start')
      await wait('serial:BOOT 0*1\\b')
      const { socket, output } = await attach('?writer=claim')
      const [stopped, lost] = [wait('stopped'), wait('serial:never')]
      // Keys that come before the guest reads them are lost, as on a real line.
      for (let isOver = false; !isOver;) {
        socket.send(Buffer.from('q'))
        isOver = await Promise.race([stopped.then(() => true), sleep(200).then(() => false)])
      }
      expect(await stopped).toMatchObject({ result: 'met', current_state: 'stopped' })
      expect(await lost).toMatchObject({ result: 'stopped' })
      await machines.run('one', 'start')
      expect(await wait('serial:BOOT (\\d+)')).toMatchObject({ result: 'met' })
      await until(() => expect(output()).toMatch(/BOOT 0*1\b[^]*BOOT 0*2\b/))
      const before = output().length
      socket.send(Buffer.from('i'))
      await until(() => expect(output().slice(before)).toContain('i'))
      socket.terminate()
    })

    test('consoles and waits end with the rights of their caller', async () => {
      await using service = await openService(await createBench())
      const { machines, wait, attach, caller, signOut } = service
      await machines.run('one', 'start')
      const { closed } = await attach('?writer=claim')
      const waiting = wait('serial:never')
      caller.claims = new Set(['LIST_VM'])
      expect(await closed).toMatchObject({ code: 1008, reason: expect.stringContaining('EXECUTE_COMMAND_VM') })
      expect(await waiting).toMatchObject({ code: 403 })
      const [second, state] = [await attach().catch(String), wait('stopped')]
      expect(second).toContain('403')
      signOut()
      expect(await state).toMatchObject({ code: 401 })
    })
  })
}
