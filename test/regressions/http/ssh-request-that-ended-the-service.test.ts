import { createServer } from 'node:net'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { createResolveHost } from '#lib/ssh/allowed-hosts.ts'
import { createHostKeyChecks } from '#lib/ssh/host-keys.ts'
import { SshRequest } from '#lib/ssh/schemas.ts'
import { createSsh } from '#lib/ssh/ssh.ts'
import { newFolder } from '../../support/folder.ts'
import { pause } from '../../support/waiting.ts'

const open = (file: string) =>
  createSsh({
    startHostKeyCheck: createHostKeyChecks({ file, policy: 'accept-new' }),
    resolveHost: createResolveHost([]),
    connectLimit: 100,
    runLimit: 1_000,
    outputLimit: 100,
  })

// An unhandled error fails this test run.
test('a public key in place of a private key is refused, and causes no later error', async () => {
  using folder = newFolder()
  const { public: key } = ssh2.utils.generateKeyPairSync('ed25519')
  const request = SshRequest.parse({ host: '127.0.0.1', port: 9, username: 'u', key, command: 'x' })
  const ssh = open(join(folder.path, 'known_hosts'))
  await expect(ssh.execute(request, new AbortController().signal)).rejects.toMatchObject({
    fault: 'invalid',
    message: expect.stringContaining('public key'),
  })
  await pause(200)
})

test('the caller gets an error when known_hosts cannot be written, also when the SSH sign-in is slow', async () => {
  using folder = newFolder()
  const file = join(folder.path, 'known_hosts')
  const server = new ssh2.Server({ hostKeys: [ssh2.utils.generateKeyPairSync('ed25519').private] }, client => {
    client.on('error', () => {})
    client.on('authentication', context => setTimeout(() => context.accept(), 100))
  })
  const port = await new Promise<number>(resolve =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  )
  const startHostKeyCheck = createHostKeyChecks({ file, policy: 'accept-new' })
  const ssh = createSsh({
    startHostKeyCheck: async request => ({
      ...(await startHostKeyCheck(request)),
      onVerified: async () => {
        throw new Error('the disk is full')
      },
    }),
    resolveHost: createResolveHost([]),
    connectLimit: 2_000,
    runLimit: 1_000,
    outputLimit: 100,
  })
  const request = SshRequest.parse({ host: '127.0.0.1', port, username: 'u', password: 'p', command: 'x' })
  await expect(ssh.execute(request, new AbortController().signal)).rejects.toThrow('the disk is full')
  server.close()
})

test('no command runs when the caller disconnects before the SSH connection is made', async () => {
  using folder = newFolder()
  let connections = 0
  const server = createServer(() => void (connections += 1))
  const port = await new Promise<number>(resolve =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
  )
  const request = SshRequest.parse({ host: '127.0.0.1', port, username: 'u', password: 'p', command: 'x' })
  const ssh = open(join(folder.path, 'known_hosts'))
  await expect(ssh.execute(request, AbortSignal.abort())).rejects.toThrow('went away')
  expect(connections).toBe(0)
  server.close()
})
