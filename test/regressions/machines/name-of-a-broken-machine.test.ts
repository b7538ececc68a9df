import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import { openMachines } from '#lib/machines/machines.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import { refuseImage } from '../../support/images.ts'
import { newEventLog } from '../../support/events.ts'
import { newFolder } from '../../support/folder.ts'
import { host } from '../../support/harness.ts'
import { anyFile } from '../../support/host-files.ts'
import { embeddedParts } from '../../support/program-parts.ts'
import { changeMachine } from '../../support/drivers/change-machine.ts'

const usual = { hostFiles: anyFile, serialLogSize: 1 << 20, log: getAreaLogger('test') }

/** The machines of a host with two demo machines, of which one has had its definition changed. */
const withDefinition = async (folder: string, change: (definition: object) => string) => {
  const before = createEmbeddedDriver({ folder, ...embeddedParts, ...usual })
  await before.open(() => {})
  const { id, home } = await before.createDemo()
  await changeMachine(before, id, { name: 'Broken' })
  await before.createDemo()
  await before.close()
  const file = join(home, 'machine.json')
  writeFileSync(file, change(JSON.parse(readFileSync(file, 'utf8'))))
  const driver = createEmbeddedDriver({ folder, ...embeddedParts, ...usual })
  const machines = await openMachines({
    driver,
    host,
    leaseImage: refuseImage,
    stopTimeout: 1_000,
    ...(await newEventLog()),
  })
  return { id, machines }
}

test('a machine of which one value is wrong is found by its name as it is listed, and is invalid', async () => {
  using folder = newFolder()
  const { id, machines } = await withDefinition(folder.path, definition => JSON.stringify({ ...definition, cpus: 'x' }))
  const listed = JSON.parse(machines.list().text).map((one: { Name: string }) => one.Name)
  expect(listed).toEqual(['Broken', 'demo'])
  for (const name of [id, 'Broken', 'broken'])
    expect(machines.showStatus(name)).toMatchObject({ id, status: 'invalid', problem: expect.stringContaining('cpus') })
  await machines.close()
})

test.for(['{}', '', '{"name":7}'])(
  'a machine of which no name can be read is listed and found by its id: %s',
  async text => {
    using folder = newFolder()
    const { id, machines } = await withDefinition(folder.path, () => text)
    const listed = JSON.parse(machines.list().text).map((one: { Name: string }) => one.Name)
    expect(listed).toContain(id)
    expect(machines.showStatus(id)).toMatchObject({ id, status: 'invalid' })
    expect(() => machines.showStatus('Broken')).toThrow('no machine')
    await machines.close()
  },
)

test('a machine that is whole keeps its name beside a broken one of the same', async () => {
  using folder = newFolder()
  const { id, machines } = await withDefinition(folder.path, definition =>
    JSON.stringify({ ...definition, name: 'demo', cpus: 'x' }),
  )
  expect(machines.showStatus('demo').status).toBe('stopped')
  expect(machines.showStatus(id).status).toBe('invalid')
  await machines.close()
})
