import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createStorage } from 'unstorage'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Machines, openMachines } from '#lib/machines/machines.ts'
import { noProgress } from '#lib/async/progress.ts'
import { createStore } from '#lib/storage/create-store.ts'
import { withExport } from '../../support/exports.ts'
import { newFolder } from '../../support/folder.ts'
import { host } from '../../support/harness.ts'
import { filesIn } from '../../support/host-files.ts'
import { createSimulatedDriver } from '../../support/drivers/simulated-driver.ts'
import { refuseImage } from '../../support/images.ts'
import { newEventLog } from '../../support/events.ts'

describe('allowed folders', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vmhost-allowed-'))
    await mkdir(join(folder, 'allowed'))
    await writeFile(join(folder, 'allowed', 'image'), 'x')
    await writeFile(join(folder, 'secret'), 'x')
    await symlink(join(folder, 'secret'), join(folder, 'allowed', 'link'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  test.for([
    ['allowed/image', true],
    ['secret', false],
    ['allowed/../secret', false],
    ['allowed/link', false],
  ] as const)('a machine on %s: %s', async ([name, allowed]) => {
    const driver = createSimulatedDriver(join(folder, 'machines'), await filesIn(join(folder, 'allowed')))
    const machines = await openMachines({
      leaseImage: refuseImage,
      driver,
      host,
      stopTimeout: 1_000,
      ...(await newEventLog()),
    })
    const made = machines.create({
      name: 'one',
      description: '',
      cpus: 1,
      memory: 16,
      disks: [{ path: join(folder, name) }],
    })
    if (allowed) await made
    else await expect(made).rejects.toMatchObject({ fault: 'forbidden' })
    expect(await driver.list()).toHaveLength(allowed ? 1 : 0)
    await machines.close()
  })
})

describe('the shutdown', () => {
  test('ends running operations in a stable state and refuses new ones', async () => {
    const driver = createSimulatedDriver(await mkdtemp(join(tmpdir(), 'vmhost-end-')))
    const machines = await openMachines({
      leaseImage: refuseImage,
      driver,
      host,
      stopTimeout: 60_000,
      ...(await newEventLog()),
    })
    const { id } = await machines.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [] })
    await machines.run(id, 'start')
    driver.ignoresPowerButton = true
    const stopping = expect(machines.run(id, 'stop')).rejects.toMatchObject({ fault: 'unavailable' })
    await machines.drain()
    await stopping
    expect(machines.showStatus(id).status).toBe('running')
    await expect(machines.run(id, 'pause')).rejects.toMatchObject({ fault: 'unavailable' })
    await machines.close()
  })
})

describe('an operation that hangs', () => {
  test('is aborted by a forced stop, which succeeds even if the operation does not end', async () => {
    using folder = newFolder()
    const driver = createSimulatedDriver(join(folder.path, 'machines'))
    const run = driver.run.bind(driver)
    const aborted = Promise.withResolvers<unknown>()
    driver.run = (id, verb, how) => {
      if (verb !== 'pause') return run(id, verb, how)
      how.deadline.addEventListener('abort', () => aborted.resolve(how.deadline.reason))
      return new Promise(() => {})
    }
    const machines = await openMachines({
      driver,
      host,
      leaseImage: refuseImage,
      stopTimeout: 60_000,
      ...(await newEventLog()),
    })
    const { id } = await machines.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [] })
    await machines.run(id, 'start')
    void machines.run(id, 'pause')
    expect(await machines.run(id, 'stop', { force: true })).toMatchObject({ status: 'Success' })
    expect(await aborted.promise).toMatchObject({ fault: 'conflict' })
    expect(machines.showStatus(id).status).toBe('stopped')
    await machines.run(id, 'start')
    await machines.remove(id, { force: true })
    await machines.close()
  })
})

describe('a request that waits for a machine during the shutdown', () => {
  test('is refused, and no operation starts', async () => {
    using folder = newFolder()
    const driver = createSimulatedDriver(join(folder.path, 'machines'))
    const machines = await openMachines({
      driver,
      host,
      leaseImage: refuseImage,
      stopTimeout: 1_000,
      ...(await newEventLog()),
    })
    const { id } = await machines.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [] })
    driver.delay = 60_000
    const progress = { ...noProgress, waitLimit: { milliseconds: 60_000 } }
    const all = Promise.allSettled([
      machines.clone(id, 'first', { linked: false, progress }),
      machines.run(id, 'start', { progress }),
      machines.clone(id, 'second', { linked: false, progress }),
    ])
    await machines.drain()
    for (const one of await all) expect(one).toMatchObject({ reason: { fault: 'unavailable' } })
    expect(await driver.list()).toHaveLength(1)
    expect(machines.showStatus(id).status).toBe('stopped')
    await machines.close()
  })
})

describe('a clone that was complete when the service was killed', () => {
  test('is found by the resumed job', async () => {
    using folder = newFolder()
    const driver = createSimulatedDriver(join(folder.path, 'machines'))
    const machines = await openMachines({
      driver,
      host,
      leaseImage: refuseImage,
      stopTimeout: 1_000,
      ...(await newEventLog()),
    })
    const { id } = await machines.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [] })
    const progress = { ...noProgress, id: crypto.randomUUID() }
    const clone = await machines.clone(id, 'two', { linked: false, progress })
    await machines.remove(id, { force: false })
    expect(await machines.clone(id, 'two', { linked: false, progress })).toBe(clone)
    expect(await driver.list()).toHaveLength(1)
    await machines.close()
  })
})

describe('a machine that was suspended for an export when the service was killed', () => {
  /** Creates a machine whose export, which has suspended it, is interrupted by a kill. */
  const interruptExport = async () => {
    const folder = newFolder()
    const driver = createSimulatedDriver(join(folder.path, 'machines'))
    const storage = createStorage()
    const failures: unknown[] = []
    const open = async () =>
      openMachines({
        leaseImage: refuseImage,
        driver,
        host,
        stopTimeout: 1_000,
        ...(await newEventLog(await createStore(storage))),
        onResumeFailed: error => void failures.push(error),
      })
    const killed = await open()
    const { id } = await killed.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [] })
    await killed.run(id, 'start')
    const { promise: inside, resolve } = Promise.withResolvers<void>()
    void withExport(killed, id, { staging: folder.path, suspend: true }, async () => {
      resolve()
      await new Promise(() => {})
    })
    await inside
    const state = async (): Promise<string> => (await driver.get(id))!.state
    expect(await state()).toBe('suspended')
    return { id, driver, failures, open, state, folder, [Symbol.dispose]: () => folder[Symbol.dispose]() }
  }
  const until = async (machines: Machines, id: string, wanted: string): Promise<void> => {
    await expect.poll(() => machines.showStatus(id).status).toBe(wanted)
  }

  test('is resumed once at the next start, before another export', async () => {
    using left = await interruptExport()
    const { id, folder, driver } = left
    driver.delay = 20
    const machines = await left.open()
    expect(machines.showStatus(id).status).toBe('resuming')
    await expect(machines.run(id, 'stop')).rejects.toMatchObject({ fault: 'conflict' })
    const seen = await withExport(machines, id, { staging: folder.path, suspend: true }, left.state)
    expect(seen).toBe('suspended')
    expect(await left.state()).toBe('running')
    await machines.run(id, 'suspend')
    await machines.close()
    const later = await left.open()
    expect(later.showStatus(id).status).toBe('suspended')
    await later.close()
    expect(left.failures).toEqual([])
  })

  test('does not delay a cancelled export', async () => {
    using left = await interruptExport()
    const { id, folder, driver } = left
    driver.delay = 60_000
    const machines = await left.open()
    const progress = { ...noProgress, signal: AbortSignal.abort(new Error('not wanted any more')) }
    const exporting = withExport(machines, id, { staging: folder.path, suspend: true, progress }, left.state)
    await expect(exporting).rejects.toThrow('not wanted any more')
    await machines.close()
  })

  test('stays suspended if it cannot be resumed, which is reported; the start does not wait', async () => {
    using left = await interruptExport()
    const { id, driver } = left
    driver.failure = new Error('its memory is damaged')
    const machines = await left.open()
    await until(machines, id, 'suspended')
    driver.failure = undefined
    expect(left.failures).toMatchObject([{ message: 'its memory is damaged' }])
    await machines.run(id, 'resume')
    await machines.close()
  })

  test('is resumed at the following start if the service ends meanwhile', async () => {
    using left = await interruptExport()
    const { id, driver } = left
    driver.delay = 60_000
    const machines = await left.open()
    expect(machines.showStatus(id).status).toBe('resuming')
    await machines.close()
    expect(await left.state()).toBe('suspended')
    driver.delay = 1
    const later = await left.open()
    await until(later, id, 'running')
    await later.close()
    expect(left.failures).toEqual([])
  })
})
