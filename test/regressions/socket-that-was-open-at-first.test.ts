import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLocalSocket } from '#lib/platform/local-socket.ts'
import { newFolder } from '../support/folder.ts'

test('the socket of the command line is its owner’s from the moment that it is there', async () => {
  using folder = newFolder()
  const path = join(folder.path, 's.sock')
  const usual = process.umask(0)
  const opening = openLocalSocket(path, () => new Response())
  // Not awaited: this is what another user of the host could have connected to.
  const born = statSync(path).mode & 0o777
  const after = process.umask(usual)
  await using _socket = await opening
  expect(born.toString(8)).toBe('600')
  expect(after).toBe(0)
})
