import { appendFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { http, passthrough } from 'msw'
import { afterEach, describe, expect } from 'vitest'
import type { App } from '#lib/http/app.ts'
import { openListener } from '#lib/listener/listener.ts'
import type { Machines } from '#lib/machines/machines.ts'
import { createClientAddress } from '#lib/platform/client-address.ts'
import { type Call, test } from '../../support/harness.ts'
import { pause, until } from '../../support/waiting.ts'
import { type ConsoleClient, openConsoleSocket } from '../../support/guests/console-client.ts'

/** These tests reach the service over real connections. */
const toService = http.get('http://127.0.0.1:*/*', () => passthrough())

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const openConsole = async (app: App, query = '', claims = 'EXECUTE_COMMAND_VM'): Promise<ConsoleClient> => {
  const listener = await openListener({
    address: new URL('http://127.0.0.1:0'),
    clientAddress: createClientAddress([]),
    ...app,
  })
  closing.push(async () => listener.close(AbortSignal.timeout(0)))
  const url = `${listener.url.replace('http', 'ws')}/api/v1/machines/one/console${query}`
  const client = await openConsoleSocket(url, { headers: { authorization: `Bearer ${claims}` } })
  closing.unshift(async () => client.socket.terminate())
  return client
}

/** Creates a machine and returns the path of its serial log. */
const create = async (call: Call, machines: Machines, isStarted = true): Promise<string> => {
  const { status } = await call('POST', '/api/v1/machines', { body: { name: 'One', memory: 64 } })
  expect(status).toBe(201)
  if (isStarted) await call('PUT', '/api/v1/machines/one/start')
  return join(machines.show('one').Home, 'serial.log')
}

const readText = (call: Call, query: string, as?: readonly string[]) =>
  call('GET', `/api/v1/machines/one/console?follow=false${query}`, as && { as })

describe('a console over a WebSocket', () => {
  test('sends what was recorded, then what comes, and passes input to the guest', async ({
    app,
    call,
    machines,
    network,
  }) => {
    network.use(toService)
    const log = await create(call, machines)
    writeFileSync(log, 'before\n')
    const { socket, output, messages } = await openConsole(app, '?writer=claim')
    await until(() => expect(output()).toBe('before\n'))
    expect(messages).toEqual([{ offset: 0, end: 7, writer: true }])
    socket.send(Buffer.from('typed\xff', 'latin1'))
    await until(() => expect(output()).toBe('before\ntyped\xff'))
    appendFileSync(log, 'more')
    await until(() => expect(output()).toBe('before\ntyped\xffmore'))
  })

  test('goes on at the offset of a client that returns, and counts a negative one from the end', async ({
    app,
    call,
    machines,
    network,
  }) => {
    network.use(toService)
    const log = await create(call, machines)
    writeFileSync(log, '0123456789')
    const [returning, late] = [await openConsole(app, '?offset=7'), await openConsole(app, '?offset=-2')]
    await until(() => expect([returning.output(), late.output()]).toEqual(['789', '89']))
    expect([returning.messages, late.messages]).toEqual([
      [{ offset: 7, end: 10, writer: false }],
      [{ offset: 8, end: 10, writer: false }],
    ])
  })

  test('tells what is gone, and misses nothing when the log is rotated', async ({ app, call, machines, network }) => {
    network.use(toService)
    const log = await create(call, machines)
    writeFileSync(`${log}.1000`, 'rotated,')
    writeFileSync(log, 'newest,')
    const { output, messages } = await openConsole(app, '?offset=900')
    await until(() => expect(output()).toBe('rotated,newest,'))
    expect(messages).toEqual([{ offset: 900, end: 1015, writer: false }, { gap: { offset: 900, length: 100 } }])
    renameSync(log, `${log}.1008`)
    appendFileSync(log, 'after')
    await until(() => expect(output()).toBe('rotated,newest,after'))
    expect(messages).toHaveLength(2)
  })

  test('has one writer; taking over is explicit, and the other one is told', async ({
    app,
    call,
    machines,
    network,
  }) => {
    network.use(toService)
    await create(call, machines)
    const first = await openConsole(app, '?writer=claim')
    const reader = await openConsole(app)
    await expect(openConsole(app, '?writer=claim')).rejects.toThrow('status 409')
    const second = await openConsole(app, '?writer=take-over')
    await until(() => expect(first.messages).toContainEqual({ writer: false, taken_over_by: 'tester' }))
    first.socket.send(Buffer.from('lost'))
    reader.socket.send(Buffer.from('lost'))
    await until(() => expect(first.messages).toContainEqual({ error: expect.stringContaining('only reads') }))
    await until(() => expect(reader.messages).toContainEqual({ error: expect.stringContaining('only reads') }))
    second.socket.send(Buffer.from('typed'))
    for (const { output } of [first, reader, second]) await until(() => expect(output()).toBe('typed'))
    second.socket.close()
    await second.closed
    await until(async () => openConsole(app, '?writer=claim'))
  })

  test('follows a machine from before its start to after its next one', async ({ app, call, machines, network }) => {
    network.use(toService)
    const log = await create(call, machines, false)
    const { socket, output, messages } = await openConsole(app, '?writer=claim')
    socket.send(Buffer.from('early'))
    await until(() => expect(messages).toContainEqual({ error: expect.stringContaining('stopped'), length: 5 }))
    for (const text of ['one ', 'two ']) {
      await call('PUT', '/api/v1/machines/one/start')
      socket.send(Buffer.from(text))
      await until(() => expect(output().endsWith(text)).toBe(true))
      await call('PUT', '/api/v1/machines/one/stop?force=true')
    }
    appendFileSync(log, 'last')
    await until(() => expect(output()).toBe('one two last'))
  })

  test('sends a slow client the rest later, from the log', async ({ app, call, machines, network }) => {
    network.use(toService)
    const log = await create(call, machines)
    const { socket, output, size } = await openConsole(app)
    socket.pause()
    const block = Buffer.alloc(1 << 20, '0123456789abcde\n')
    for (let at = 0; at < 24; at += 1) appendFileSync(log, block)
    const before = process.memoryUsage().external
    await pause(200)
    expect(process.memoryUsage().external - before).toBeLessThan(16 << 20)
    socket.resume()
    await until(() => expect(size()).toBe(24 << 20))
    expect(Buffer.from(output(), 'latin1').equals(Buffer.alloc(24 << 20, block))).toBe(true)
  })

  test('closes when the machine is deleted, and when the service ends', async ({ app, call, machines, network }) => {
    network.use(toService)
    await create(call, machines)
    const { closed } = await openConsole(app)
    await call('DELETE', '/api/v1/machines/one?force=true')
    expect(await closed).toMatchObject({ code: 1008, reason: expect.stringContaining('no machine') })
  })

  test.for([
    ['a caller without the right', '', 'other,LIST_VM,UPDATE_VM', 403],
    ['an offset that is none', '?offset=x', 'EXECUTE_COMMAND_VM', 400],
    ['a search', '?search=x', 'EXECUTE_COMMAND_VM', 400],
    ['an unknown kind of writer', '?writer=yes', 'EXECUTE_COMMAND_VM', 400],
  ] as const)('refuses %s', async ([, query, claims, status], { app, call, machines, network }) => {
    network.use(toService)
    await create(call, machines)
    await expect(openConsole(app, query, claims)).rejects.toThrow(`status ${status}`)
  })

  test('is needed to follow', async ({ call, machines }) => {
    await create(call, machines)
    expect(await call('GET', '/api/v1/machines/one/console')).toMatchObject({ status: 426 })
  })
})

describe('a console as text', () => {
  test('has all output, or that from an offset on', async ({ call, machines }) => {
    const log = await create(call, machines, false)
    writeFileSync(`${log}.10`, 'one\n')
    writeFileSync(log, 'two\nthree\n')
    const all = await readText(call, '')
    expect(all).toMatchObject({
      status: 200,
      body: '[10 bytes from offset 0 are not kept any more]\none\ntwo\nthree\n',
    })
    expect(Object.fromEntries(all.headers)).toMatchObject({
      'x-console-offset': '10',
      'x-console-end': '24',
      'content-type': 'text/plain; charset=utf-8',
    })
    expect((await readText(call, '&offset=14')).body).toBe('two\nthree\n')
    expect((await readText(call, '&offset=-6')).body).toBe('three\n')
    expect((await readText(call, '&offset=24')).body).toBeUndefined()
    expect((await readText(call, '&offset=99')).body).toBeUndefined()
  })

  test('is searched by lines, whatever the pieces that it is read in', async ({ call, machines }) => {
    const log = await create(call, machines)
    const filler = `${'x'.repeat(99)}\n`.repeat(1000)
    writeFileSync(log, `${filler}first needle\r\n${filler}second needle`)
    expect((await readText(call, `&search=${encodeURIComponent('need[l]e$')}`)).body).toBe(
      '100000:first needle\n200014:second needle\n',
    )
    expect((await readText(call, '&search=nothing')).body).toBeUndefined()
    for (const pattern of ['(', '((a{1000}){1000})', 'a{900}'])
      expect(await readText(call, `&search=${encodeURIComponent(pattern)}`)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('search') },
      })
  })

  test('is for those who may enter the machine', async ({ call, machines }) => {
    await create(call, machines)
    expect((await readText(call, '', ['LIST_VM'])).status).toBe(200)
    expect((await readText(call, '', ['other', 'LIST_VM'])).status).toBe(403)
    expect((await readText(call, '', ['other', 'EXECUTE_COMMAND_VM'])).status).toBe(200)
    expect((await readText(call, '&writer=claim')).status).toBe(400)
  })

  test('of a log that links elsewhere is empty', async ({ call, machines, folder }) => {
    const log = await create(call, machines)
    const secret = join(folder, 'secret')
    writeFileSync(secret, 'secret')
    symlinkSync(secret, log)
    expect((await readText(call, '')).body).toBeUndefined()
  })
})
