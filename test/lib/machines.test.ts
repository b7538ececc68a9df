import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openMachines } from '#lib/machines/machines.ts'
import { host } from '../support/harness.ts'
import { createSimulatedDriver } from '../support/simulated-driver.ts'
import { newTelling } from '../support/events.ts'

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
    const driver = createSimulatedDriver(join(folder, 'machines'))
    const machines = await openMachines({
      driver,
      host,
      stopLimit: 1_000,
      allowedFolders: [join(folder, 'allowed')],
      ...(await newTelling()),
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

describe('the end of the service', () => {
  test('operations give up in a stable state, and no new one begins', async () => {
    const driver = createSimulatedDriver(await mkdtemp(join(tmpdir(), 'vmhost-end-')))
    const machines = await openMachines({
      driver,
      host,
      stopLimit: 60_000,
      allowedFolders: [],
      ...(await newTelling()),
    })
    const { id } = await machines.create({ name: 'one', description: '', cpus: 1, memory: 16, disks: [] })
    await machines.run(id, 'start')
    driver.ignoresPowerButton = true
    const stopping = expect(machines.run(id, 'stop')).rejects.toMatchObject({ fault: 'unavailable' })
    await machines.drain()
    await stopping
    expect(machines.status(id).status).toBe('running')
    await expect(machines.run(id, 'pause')).rejects.toMatchObject({ fault: 'unavailable' })
    await machines.close()
  })
})
