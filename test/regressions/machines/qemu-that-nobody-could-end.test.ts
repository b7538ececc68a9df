import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import { openMachines, type Machines } from '#lib/machines/machines.ts'
import { noProgress } from '#lib/async/progress.ts'
import { refuseImage } from '../../support/images.ts'
import { newEventLog } from '../../support/events.ts'
import { host } from '../../support/harness.ts'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'
import { type QmpServer, replaceQmp } from '../../support/drivers/qmp-server.ts'
import { until } from '../../support/waiting.ts'

interface Hostile extends AsyncDisposable {
  readonly machines: Machines
  readonly server: QmpServer
  readonly pid: number
}

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'a QEMU whose migration never ends', () => {
  /** A service with a machine `one`, whose real QEMU runs behind somebody who says that it sends memory for ever. */
  const open = async (): Promise<Hostile> => {
    await using stack = new AsyncDisposableStack()
    const bench = stack.use(await openQemuBench())
    const { id, home } = await bench.create('one')
    await bench.run(id, 'start')
    const pid = await bench.pid(id)
    await bench.close()
    const server = stack.use(
      await replaceQmp({ id, home }, command => {
        if (command === 'query-status') return { status: 'running' }
        if (command === 'qom-list') return [{ name: 'hdd0' }, { name: 'net0' }]
        return command === 'query-migrate' ? { status: 'active' } : {}
      }),
    )
    const machines = await openMachines({
      driver: await createQemu(join(bench.folder, 'machines')),
      host,
      leaseImage: refuseImage,
      stopTimeout: 60_000,
      ...(await newEventLog()),
    })
    stack.defer(() => machines.close())
    const kept = stack.move()
    return { machines, server, pid, [Symbol.asyncDispose]: () => kept.disposeAsync() }
  }
  const begins = (server: QmpServer): Promise<void> =>
    until(() => expect(server.receivedCommands).toContain('query-migrate'))
  const isGone = (pid: number): Promise<void> => until(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))

  test('is ended by a forced stop in the middle of a suspension', async () => {
    await using hostile = await open()
    const { machines, server, pid } = hostile
    const suspended = expect(machines.run('one', 'suspend')).rejects.toMatchObject({ fault: 'conflict' })
    await begins(server)
    expect(await machines.run('one', 'stop', { force: true })).toMatchObject({ status: 'Success' })
    await suspended
    await isGone(pid)
    expect(machines.showStatus('one')).toMatchObject({ status: 'stopped' })
  })

  test('is ended and deleted by a forced deletion in the middle of a suspension', async () => {
    await using hostile = await open()
    const { machines, server, pid } = hostile
    const suspended = expect(machines.run('one', 'suspend')).rejects.toMatchObject({ fault: 'conflict' })
    await begins(server)
    await machines.remove('one', { force: true })
    await suspended
    await isGone(pid)
    expect(() => machines.showStatus('one')).toThrow('There is no machine')
  })
  test('keeps nobody from cancelling the suspension, and then has its other verbs', async () => {
    await using hostile = await open()
    const { machines, server } = hostile
    const cancelled = new AbortController()
    const progress = { ...noProgress, signal: cancelled.signal }
    const suspended = expect(machines.run('one', 'suspend', { progress })).rejects.toThrow('not wanted any more')
    await begins(server)
    cancelled.abort(new ServiceError('conflict', 'not wanted any more'))
    await suspended
    expect(machines.showStatus('one')).toMatchObject({ status: 'running' })
    expect(await machines.run('one', 'pause')).toMatchObject({ status: 'Success' })
  })
})
