import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openLocalSocket } from '#lib/platform/local-socket.ts'
import { newFolder } from '../../support/folder.ts'

test('only the owner can open the command line’s socket from the moment that it exists', async () => {
  using folder = newFolder()
  const path = join(folder.path, 's.sock')
  const usual = process.umask(0)
  const opening = openLocalSocket(path, { fetch: () => new Response(), upgrade: async () => new Response() })
  // Not awaited, to see the socket in the moment in which another user could connect to it.
  const born = statSync(path).mode & 0o777
  const after = process.umask(usual)
  await using _socket = await opening
  expect(born.toString(8)).toBe('600')
  expect(after).toBe(0)
})
