import * as z from 'zod'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Agent, connectAgent } from '#lib/hypervisor/agent/agent.ts'
import { readAddresses, readGuestFacts } from '#lib/hypervisor/agent/guest-facts.ts'
import { type FakeAgent, startFakeAgent } from '../../../support/guests/fake-agent.ts'

const open = (): { readonly fake: FakeAgent; readonly agent: Agent } => {
  const fake = startFakeAgent()
  const agent = connectAgent(fake.stream)
  onTestFinished(() => agent.close())
  return { fake, agent }
}
const ping = (agent: Agent, timeLimit = 100) => agent.execute('guest-ping', { reply: z.object({}), timeLimit })

describe('an agent', () => {
  test('is in step before its first command, and stays in step', async () => {
    const { fake, agent } = open()
    await ping(agent)
    await ping(agent)
    expect(fake.commands).toEqual(['guest-sync-delimited', 'guest-ping', 'guest-ping'])
  })

  test('answers commands in their order, one at a time', async () => {
    const { fake, agent } = open()
    const replies = await Promise.all([readGuestFacts(agent), readAddresses(agent), ping(agent)])
    expect(replies).toEqual([
      { agentVersion: '7.2.0', systemId: 'debian', systemName: 'The debian system' },
      [
        { ip: '192.0.2.7', type: 'ipv4' },
        { ip: '2001:db8::7', type: 'ipv6' },
      ],
      {},
    ])
    expect(fake.commands).toHaveLength(5)
  })

  test('tells what it does not have and what is switched off', async () => {
    const { fake, agent } = open()
    fake.disabled.add('guest-ping')
    await expect(ping(agent)).rejects.toMatchObject({
      fault: 'unsupported',
      message: expect.stringContaining('switched'),
    })
    await expect(agent.execute('guest-dance', { reply: z.unknown() })).rejects.toMatchObject({ fault: 'unsupported' })
  })

  test('that does not answer in time: its late reply is not that of a later command', async () => {
    const { fake, agent } = open()
    await ping(agent)
    fake.faults.reply = command => (command === 'guest-info' ? 'hang' : undefined)
    await expect(agent.execute('guest-info', { reply: z.unknown(), timeLimit: 50 })).rejects.toMatchObject({
      fault: 'timeout',
      message: expect.stringContaining('guest-info'),
    })
    fake.send('{"return": {"version": "late"}}\n')
    fake.faults = {}
    expect(await agent.execute('guest-ping', { reply: z.unknown() })).toEqual({})
    expect(fake.commands.slice(-2)).toEqual(['guest-sync-delimited', 'guest-ping'])
  })

  test('that sends something unasked between two commands is brought in step again', async () => {
    const { fake, agent } = open()
    await ping(agent)
    fake.send('{"return": "unasked"}\n')
    await ping(agent).catch(() => {})
    await ping(agent)
    expect(await readAddresses(agent)).toHaveLength(2)
  })

  test.for([
    ['no JSON', 'hello\n'],
    ['no message', '[1,2]\n'],
    ['nested too deeply', `${'['.repeat(100)}${']'.repeat(100)}\n`],
    ['too many values', `{"return": [${'1,'.repeat(30_000)}1]}\n`],
    ['a line without an end', `{"return": ${'1'.repeat(1_000_000)}`],
    ['another answer', '{"return": 7}\n'],
  ])('that sends %s is refused, and serves the next command', async ([, bytes]) => {
    const { fake, agent } = open()
    await ping(agent)
    fake.faults.reply = command => (command === 'guest-ping' ? bytes : undefined)
    await expect(ping(agent, 2_000)).rejects.toMatchObject({ fault: 'upstream' })
    fake.faults = {}
    await ping(agent, 2_000)
  })

  test('that never stops sending is refused, and holds up nobody else', async () => {
    const { fake, agent } = open()
    await ping(agent)
    const block = Buffer.alloc(2 ** 20, 'x')
    let sent = 0
    const flood = (): void => {
      if (fake.stream.destroyed || sent > 200) return
      sent += 1
      fake.send(sent % 2 === 0 ? '"' : block)
      setImmediate(flood)
    }
    fake.faults.reply = () => (flood(), '{"return": "')
    await expect(ping(agent, 30_000)).rejects.toMatchObject({ fault: 'upstream' })
  })

  test('a text that is longer than wanted is cut while it is read', async () => {
    const { fake, agent } = open()
    const long = Buffer.alloc(3_000_000, 'a').toString('base64')
    fake.faults.reply = command =>
      command === 'guest-ping' ? `{"return": {"out": "${long}", "escaped": "a\\"b", "after": 7}}\n` : undefined
    const reply = z.object({ out: z.string(), escaped: z.string(), after: z.int() })
    expect(await agent.execute('guest-ping', { reply, textLimit: 4_000 })).toEqual({
      out: long.slice(0, 4_000),
      escaped: 'a"b',
      after: 7,
    })
  })

  test('whose connection ends fails the command that waits', async () => {
    const { fake, agent } = open()
    fake.faults.reply = () => 'hang'
    const waiting = ping(agent, 10_000)
    setImmediate(() => fake.stream.destroy())
    await expect(waiting).rejects.toMatchObject({ fault: 'upstream' })
    await expect(ping(agent)).rejects.toMatchObject({ fault: 'upstream' })
  })

  test('a caller who goes away does not wait, and the next one gets their own reply', async () => {
    const { fake, agent } = open()
    await ping(agent)
    fake.faults.reply = command => (command === 'guest-info' ? 'hang' : undefined)
    const gone = new AbortController()
    const waiting = agent.execute('guest-info', { reply: z.unknown(), signal: gone.signal })
    gone.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    expect(await agent.execute('guest-ping', { reply: z.unknown() })).toEqual({})
  })
})
