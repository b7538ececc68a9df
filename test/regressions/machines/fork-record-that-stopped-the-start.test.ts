import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEmbeddedBench } from '../../support/drivers/embedded-bench.ts'
import { newFolder } from '../../support/folder.ts'

test('a driver opens with damaged records of forks, keeps them, and removes what the others name', async () => {
  using folder = newFolder()
  const [machines, records] = ['machines', 'forks/machines'].map(name => join(folder.path, name)) as [string, string]
  const interrupted = crypto.randomUUID()
  await mkdir(join(machines, interrupted), { recursive: true })
  await mkdir(records, { recursive: true })
  await writeFile(join(records, 'a.json'), '["../../etc"]')
  await writeFile(join(records, 'b.json'), JSON.stringify([interrupted]))
  await writeFile(join(records, 'c.json'), '{')
  const driver = createEmbeddedBench(machines).driver()
  await driver.open(() => {})
  await driver.close()
  expect((await readdir(records)).toSorted()).toEqual(['a.json', 'c.json'])
  expect(await readdir(machines)).not.toContain(interrupted)
})

test('a driver leaves the records of another driver alone', async () => {
  using folder = newFolder()
  const records = join(folder.path, 'forks/of-another-driver')
  await mkdir(records, { recursive: true })
  await writeFile(join(records, 'a.json'), JSON.stringify([crypto.randomUUID()]))
  const driver = createEmbeddedBench(join(folder.path, 'machines')).driver()
  await driver.open(() => {})
  await driver.close()
  expect(await readdir(records)).toEqual(['a.json'])
})
