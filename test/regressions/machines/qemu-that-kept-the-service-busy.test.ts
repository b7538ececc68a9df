import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { openQemuBench, type QemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { type QmpServer, replaceQmp } from '../../support/drivers/qmp-server.ts'
import { until } from '../../support/waiting.ts'

const event = `${JSON.stringify({ event: 'STOP', timestamp: { seconds: 1, microseconds: 1 } })}\r\n`

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'a QEMU that tells of changes without end', () => {
  interface Hostile extends AsyncDisposable {
    readonly bench: QemuBench
    readonly server: QmpServer
    readonly id: string
  }
  const open = async (answer: (command: string, socket: Socket) => object | undefined): Promise<Hostile> => {
    await using stack = new AsyncDisposableStack()
    const bench = stack.use(await openQemuBench())
    const { id, home } = await bench.create('one')
    await bench.run(id, 'start')
    await bench.close()
    const server = stack.use(await replaceQmp({ id, home }, answer))
    const kept = stack.move()
    return { bench, server, id, [Symbol.asyncDispose]: () => kept.disposeAsync() }
  }

  test('is looked at a few times at once and seldom then, however often its state flips', async () => {
    const told = { events: 0 }
    const telling = new WeakSet<Socket>()
    let status = 'running'
    await using hostile = await open((command, socket) => {
      if (command !== 'query-status') return {}
      // Every answer is followed by news.
      if (!telling.has(socket)) {
        telling.add(socket)
        const timer = setInterval(() => {
          told.events += 1
          socket.write(event)
        }, 10)
        socket.once('close', () => clearInterval(timer))
      }
      status = status === 'running' ? 'paused' : 'running'
      return { status }
    })
    const { bench, server } = hostile
    await bench.open()
    await until(() => expect(told.events).toBeGreaterThan(500))
    expect(server.receivedCommands.filter(command => command === 'query-status').length).toBeLessThan(20)
    expect(bench.events.length).toBeLessThan(20)
  })

  test('is let go of when it sends more than QEMU has reason to, says so, and can be ended', async () => {
    await using hostile = await open((command, socket) => {
      const flood = (): void => {
        while (!socket.destroyed && socket.write(event));
      }
      if (command === 'query-status') {
        socket.on('drain', flood)
        setImmediate(flood)
      }
      return { status: 'running' }
    })
    const { bench, server, id } = hostile
    const pid = await bench.pid(id)
    await bench.open()
    await bench.waitForView(id, { state: 'running', problem: expect.stringContaining('more messages in a second') })
    expect(server.receivedCommands.length).toBeLessThan(20)
    expect(await bench.run(id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
    await until(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))
  })
})
