import { spawn } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import { openQemuBench, type QemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { until } from '../../support/waiting.ts'

/** MB: this much takes QEMU a while to look through, though little of it is ever written. */
const large = 6_144

/** Waits until memory is being written. */
const isWritten = (home: string): Promise<void> =>
  until(() => expect(existsSync(join(home, 'state.mem.new'))).toBe(true), 1)

/** Suspends the machine of a folder until this process is killed. */
const script = `
import { createQemu } from '../../support/drivers/qemu.ts'
const [folder, id] = process.argv.slice(2)
const driver = await createQemu(folder)
await driver.open(() => {})
await driver.run(id, 'suspend', { force: false, deadline: new AbortController().signal })
`

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'memory that was not saved to its end', () => {
  const running = async (bench: QemuBench) => {
    const view = await bench.create('one', large)
    await bench.run(view.id, 'start')
    await bench.nextTick(view.id)
    return view
  }

  test('a forced stop that overtakes a suspension leaves nothing that is resumed, now or after the next start', async () => {
    await using bench = await openQemuBench()
    const { id, home } = await running(bench)
    const takenOver = new AbortController()
    const suspended = bench.run(id, 'suspend', { deadline: takenOver.signal })
    const refused = expect(suspended).rejects.toThrow('taken over')
    await isWritten(home)
    takenOver.abort(new ServiceError('conflict', 'taken over'))
    await refused
    expect(await bench.get(id)).toMatchObject({ state: 'running' })
    expect(await bench.listSavedMemory(id)).toEqual([])
    await bench.nextTick(id)
    await bench.run(id, 'stop', { force: true })
    await bench.close()
    await bench.open()
    expect(await bench.get(id)).toMatchObject({ state: 'stopped' })
    await bench.run(id, 'start')
    await bench.nextTick(id)
  })

  test('a QEMU that is killed while it is suspended has crashed, and leaves nothing', async () => {
    await using bench = await openQemuBench()
    const { id, home } = await running(bench)
    const refused = expect(bench.run(id, 'suspend')).rejects.toMatchObject({ fault: 'upstream' })
    await isWritten(home)
    process.kill(await bench.pid(id), 'SIGKILL')
    await refused
    expect(await bench.get(id)).toMatchObject({ state: 'stopped', problem: expect.stringContaining('crashed') })
    expect(await bench.listSavedMemory(id)).toEqual([])
    await bench.close()
    await bench.open()
    expect(await bench.get(id)).toMatchObject({ state: 'stopped' })
  })

  test('a service that is killed meanwhile finds the guest again, which goes on', async () => {
    const program = join(import.meta.dirname, `.suspend-${process.pid}.ts`)
    writeFileSync(program, script)
    try {
      await using bench = await openQemuBench()
      const { id, home } = await running(bench)
      const tick = await bench.nextTick(id)
      await bench.close()
      const child = spawn(process.execPath, [program, join(bench.folder, 'machines'), id], { stdio: 'inherit' })
      const ended = new Promise(resolve => child.once('exit', resolve))
      await isWritten(home)
      child.kill('SIGKILL')
      await ended
      expect(existsSync(join(home, 'op.json'))).toBe(true)
      await bench.open()
      await bench.waitForView(id, { state: 'running' })
      expect((await bench.get(id)).problem).toBeUndefined()
      expect(await bench.nextTick(id)).toBeGreaterThan(tick)
      expect(await bench.listSavedMemory(id)).toEqual([])
    } finally {
      rmSync(program, { force: true })
    }
  })

  test('memory that lies there and was not written down as saved is not loaded', async () => {
    await using bench = await openQemuBench()
    const { id, home } = await bench.create('one')
    await bench.run(id, 'start')
    await bench.run(id, 'stop', { force: true })
    await bench.close()
    for (const name of ['state.mem', 'state.mem.full', 'state.mem.new']) writeFileSync(join(home, name), 'of old')
    await bench.open()
    expect(await bench.get(id)).toMatchObject({ state: 'stopped' })
    await bench.run(id, 'start')
    expect(existsSync(join(home, 'state.mem'))).toBe(false)
  })

  test('memory that was loaded is not loaded again after a crash', async () => {
    await using bench = await openQemuBench()
    const { id, home } = await bench.create('one')
    await bench.run(id, 'start')
    await bench.nextTick(id)
    await bench.run(id, 'suspend')
    expect(await bench.listSavedMemory(id)).toEqual(['state.mem'])
    await bench.run(id, 'resume')
    expect(await bench.listSavedMemory(id)).toEqual([])
    // As a kill of all leaves it between the loading and the first note of that.
    const pid = await bench.pid(id)
    await bench.close()
    process.kill(pid, 'SIGKILL')
    writeFileSync(join(home, 'run.json'), JSON.stringify({ state: 'suspended', since: 0, ranFor: 0 }))
    writeFileSync(join(home, 'state.mem.spent'), 'of old')
    await bench.open()
    expect(await bench.get(id)).toMatchObject({ state: 'stopped', problem: expect.stringContaining('crashed') })
    expect(await bench.listSavedMemory(id)).toEqual([])
  })
})
