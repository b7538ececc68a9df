import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readDatabase } from '#lib/storage/database-file.ts'
import { firstPlain } from '../../support/first-version.ts'
import { newState, rootPassword, runProgram, startService } from '../../support/service.ts'

test('an upgrade of the first version leaves a copy, and a restore of it says what is lost', async () => {
  using state = newState()
  const [store, copy] = [join(state.path, 'store.db'), join(state.path, 'store.db.before-3')]
  const env = { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_PUBLIC_URL: 'https://vm.example.test' }
  const vmhost = (args: string) => runProgram(args.split(' '), env, state.path)
  expect((await vmhost('storage copies')).stdout).toBe('There are no copies of the store.\n')
  writeFileSync(store, firstPlain())
  const service = await startService({ state: state.path, env })
  expect((await vmhost('link')).stdout).toMatch(/^https:\/\/vm\.example\.test\/#/)
  const [{ host_url: url }] = (await service.call('GET', '/api/v1/machines', { token: await service.signIn() })).body
  expect(url).toBe('https://vm.example.test')
  await service.stop()

  expect((await vmhost('storage copies')).stdout).toMatch(
    new RegExp(`^20.* before the upgrade to version 3 of the data +${copy}$`, 'm'),
  )
  expect(JSON.parse((await vmhost('storage copies --json')).stdout)).toMatchObject([{ file: copy }])
  const lost = /^ {2}users +1 added, 0 changed, 0 deleted$/m
  expect((await vmhost(`storage restore ${copy} --dry-run`)).stdout).toMatch(lost)
  expect(readDatabase(store).version).toBe(3)
  const restored = await vmhost(`storage restore ${copy}`)
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringMatching(lost) })
  expect(readDatabase(store).version).toBe(1)

  const [, kept] = /replaced store is in (\S+)\.\n/.exec(restored.stdout) ?? []
  expect((await vmhost(`storage restore ${kept}`)).stdout).toMatch(/^ {2}users +0 added, 0 changed, 1 deleted$/m)
  expect((await vmhost('users list')).stdout).toMatch(/^root /m)
})
