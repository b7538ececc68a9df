import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { installFakeQemu, setBehaviour } from '../../support/drivers/fake-qemu.ts'
import { newFolder } from '../../support/folder.ts'
import { openQemuBench, type QemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { until } from '../../support/waiting.ts'

/** Waits until the machine runs without a problem. */
const answers = (bench: QemuBench, id: string): Promise<void> =>
  until(async () => {
    const { state, problem } = await bench.get(id)
    expect({ state, problem }).toEqual({ state: 'running' })
  })
const isSilent = { problem: expect.stringContaining('does not answer') }

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'a QEMU that says nothing', () => {
  test('what it is asked is given up in time; it has a problem until it answers, and then its guest goes on', async () => {
    await using bench = await openQemuBench()
    const silence = async (verb: 'pause' | 'suspend'): Promise<void> => {
      const { id } = await bench.create(verb)
      await bench.run(id, 'start')
      await bench.nextTick(id)
      const pid = await bench.pid(id)
      process.kill(pid, 'SIGSTOP')
      await expect(bench.run(id, verb)).rejects.toMatchObject({ fault: 'timeout' })
      expect(await bench.get(id)).toMatchObject({ state: 'running', ...isSilent })
      process.kill(pid, 'SIGCONT')
      await answers(bench, id)
      await bench.nextTick(id)
      process.kill(pid, 'SIGSTOP')
      expect(await bench.run(id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
      await until(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'))
    }
    await Promise.all([silence('pause'), silence('suspend')])
  })

  test('a guest that a failed pause has stopped goes on, also when the connection has ended meanwhile', async () => {
    using programs = newFolder()
    await using bench = await openQemuBench({ program: await installFakeQemu(programs.path) })
    const { id, home } = await bench.create('one')
    await bench.run(id, 'start')
    setBehaviour(home, 'silent stop')
    await expect(bench.run(id, 'pause')).rejects.toMatchObject({ fault: 'timeout' })
    await answers(bench, id)
  })

  test('one that is halted when the service starts is shown, and taken over when it answers', async () => {
    await using bench = await openQemuBench()
    const { id } = await bench.create('one')
    await bench.run(id, 'start')
    await bench.nextTick(id)
    const pid = await bench.pid(id)
    await bench.close()
    process.kill(pid, 'SIGSTOP')
    await bench.open()
    expect(await bench.get(id)).toMatchObject({ state: 'running', ...isSilent })
    process.kill(pid, 'SIGCONT')
    await answers(bench, id)
    expect(await bench.run(id, 'pause')).toMatchObject({ state: 'paused' })
  })

  test('memory that is moved for long keeps no service from starting, and no machine from being ended', async () => {
    using programs = newFolder()
    await using bench = await openQemuBench({ program: await installFakeQemu(programs.path) })
    const loading = { ...(await bench.create('loading')), mood: 'loading', state: 'suspended', verb: 'resume' } as const
    const sending = { ...(await bench.create('sending')), mood: 'sending', state: 'running', verb: 'suspend' } as const
    const other = await bench.create('other')
    for (const { id } of [loading, sending, other]) await bench.run(id, 'start')
    /** Starts the service as one that was killed in the middle of both. */
    const restart = async (): Promise<void> => {
      await bench.close()
      for (const { home, mood, state, verb } of [loading, sending]) {
        setBehaviour(home, mood)
        writeFileSync(join(home, 'run.json'), JSON.stringify({ state, since: 0, ranFor: 0 }))
        writeFileSync(join(home, 'op.json'), JSON.stringify({ verb, from: state }))
      }
      await bench.open()
      expect(await bench.get(loading.id)).toMatchObject({ state: 'paused', problem: expect.any(String) })
      expect(await bench.get(sending.id)).toMatchObject({ state: 'running', problem: expect.any(String) })
    }
    await restart()
    expect(await bench.run(other.id, 'pause')).toMatchObject({ state: 'paused' })
    for (const { id, home } of [loading, sending]) {
      setBehaviour(home, 'well')
      await answers(bench, id)
    }
    await restart()
    for (const { id } of [loading, sending])
      expect(await bench.run(id, 'stop', { force: true })).toMatchObject({ state: 'stopped' })
  })
})
