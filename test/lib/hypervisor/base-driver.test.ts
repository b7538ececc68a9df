import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createBaseDriver } from '#lib/hypervisor/base-driver.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'
import { createMachineFolders } from '#lib/hypervisor/files/machine-folders.ts'
import { createStoppedView } from '#lib/hypervisor/machine-views.ts'
import { newFolder } from '../../support/folder.ts'
import { changeMachine } from '../../support/drivers/change-machine.ts'

const createBase = (folder: string) => {
  const folders = createMachineFolders(folder)
  return createBaseDriver({
    folders,
    createMachine(definition: Definition) {
      let view = createStoppedView(definition, folders.home(definition.id))
      return { view: () => view, setDefinition: (changed: Definition) => (view = { ...view, definition: changed }) }
    },
  })
}
const describeMachine = (name: string): Definition => ({
  ...{ id: crypto.randomUUID(), name, description: '', cpus: 1, memory: 16, disks: [], networks: [] },
  created_at: new Date().toISOString(),
})

test('a machine that was created and configured is found again with its definition, and deleted once', async () => {
  using folder = newFolder()
  const before = createBase(folder.path)
  await before.open(() => {})
  const definition = describeMachine('one')
  const { id } = await before.create(definition.id, async () => definition)
  const view = await changeMachine(before, id, { memory: 32 })
  expect(view.definition.memory).toBe(32)

  const after = createBase(folder.path)
  const found = await after.open(() => {})
  expect(found).toEqual([{ id, home: view.home, definition: view.definition }])
  await before.remove(id)
  expect(await before.list()).toEqual([])
  expect(await createBase(folder.path).open(() => {})).toEqual([])
})

test('a machine with an unreadable definition is listed before the others, refuses requests and can be removed', async () => {
  using folder = newFolder()
  mkdirSync(join(folder.path, 'broken'))
  const base = createBase(folder.path)
  expect(await base.open(() => {})).toEqual([])
  const definition = describeMachine('one')
  await base.create(definition.id, async () => definition)
  expect((await base.list()).map(({ id, state }) => [id, state])).toEqual([
    ['broken', 'invalid'],
    [definition.id, 'stopped'],
  ])
  expect(base.requireView('broken').problem).toMatch(/^its definition cannot be read/)
  expect(() => base.requireMachine('broken')).toThrow(expect.objectContaining({ fault: 'conflict' }))
  await base.remove('broken')
  expect(await base.get('broken')).toBeUndefined()
  expect(() => base.requireMachine('broken')).toThrow(expect.objectContaining({ fault: 'not-found' }))
})

test('a folder that could not be populated leaves no machine', async () => {
  using folder = newFolder()
  const base = createBase(folder.path)
  await base.open(() => {})
  const failure = new Error('no')
  await expect(base.create(crypto.randomUUID(), () => Promise.reject(failure))).rejects.toBe(failure)
  expect(await base.list()).toEqual([])
  expect(await createBase(folder.path).open(() => {})).toEqual([])
})
