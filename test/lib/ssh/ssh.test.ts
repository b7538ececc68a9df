import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import ssh2, { type Connection } from 'ssh2'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createResolveHost } from '#lib/ssh/allowed-hosts.ts'
import { createHostKeyChecks, computeFingerprint } from '#lib/ssh/host-keys.ts'
import { SshRequest } from '#lib/ssh/schemas.ts'
import { createSsh, type Ssh } from '#lib/ssh/ssh.ts'
import { newFolder } from '../../support/folder.ts'
import { freePort, type Sshd, sshdInstalled, sshKeygen, startSshd } from '../../support/servers/sshd.ts'
import { patience, until } from '../../support/waiting.ts'

let folder: ReturnType<typeof newFolder>
let ssh: Ssh
const knownHosts = (): string => join(folder.path, 'ssh/known_hosts')
const known = (): string => readFileSync(knownHosts(), 'utf8')

interface Limits {
  readonly policy?: 'accept-new' | 'strict'
  readonly allowed?: readonly string[]
  readonly run?: number
  readonly connect?: number
  readonly output?: number
}
const open = ({
  policy = 'accept-new',
  allowed = [],
  run = patience,
  connect = patience,
  output = 1 << 20,
}: Limits = {}): Ssh =>
  createSsh({
    startHostKeyCheck: createHostKeyChecks({ file: knownHosts(), policy }),
    resolveHost: createResolveHost(allowed),
    connectLimit: connect,
    runLimit: run,
    outputLimit: output,
  })
const execute = (request: object, by = ssh, signal = new AbortController().signal) =>
  by.execute(SshRequest.parse(request), signal)

beforeEach(() => {
  folder = newFolder()
  ssh = open()
})
afterEach(async () => {
  await ssh.close()
  folder[Symbol.dispose]()
})

describe.skipIf(!sshdInstalled)(
  `SSH execute on a real sshd${sshdInstalled ? '' : ' (skipped: /usr/sbin/sshd is missing)'}`,
  () => {
    let sshd: Sshd
    let home: ReturnType<typeof newFolder>
    beforeAll(async () => {
      home = newFolder()
      sshd = await startSshd(home.path)
    })
    afterAll(async () => {
      await sshd[Symbol.asyncDispose]()
      home[Symbol.dispose]()
    })
    const run = (command: string, more: object = {}, by = ssh) =>
      execute({ host: '127.0.0.1', port: sshd.port, username: sshd.username, key: sshd.key, command, ...more }, by)

    test.for([
      ['printf hello', { output: 'hello', error: '' }],
      ['printf out; sleep 0.2; printf err >&2; sleep 0.2; printf more', { output: 'outerrmore', error: '' }],
      ['printf grüße; exit 3', { output: 'grüße', error: 'Process exited with status 3' }],
      ['printf before; kill -TERM $$', { output: 'before', error: 'Process was ended by signal TERM' }],
      [
        'no-such-command-at-all',
        { output: expect.stringContaining('not found'), error: 'Process exited with status 127' },
      ],
      ['cat', { output: '', error: '' }],
    ] as const)('%s', async ([command, result]) => {
      expect(await run(command)).toEqual(result)
    })

    test('a key with its passphrase, without it, and with a wrong one', async () => {
      const key = sshd.lockedKey
      expect(await run('printf in', { key, passphrase: 'open sesame' })).toEqual({ output: 'in', error: '' })
      await expect(run('true', { key })).rejects.toMatchObject({
        fault: 'invalid',
        message: expect.stringContaining('no passphrase'),
      })
      await expect(run('true', { key, passphrase: 'wrong' })).rejects.toMatchObject({
        fault: 'invalid',
        message: expect.stringContaining('passphrase is wrong'),
      })
      await expect(run('true', { key: 'not a key' })).rejects.toMatchObject({
        fault: 'invalid',
        message: expect.stringContaining('PEM'),
      })
    })

    test('output beyond the limit is cut and counted, and the command runs to its end', async () => {
      const result = await run('head -c 3000000 /dev/zero | tr "\\0" x; exit 5', {}, open({ output: 1000 }))
      expect(result.output).toBe(`${'x'.repeat(1000)}\n[output truncated: 2999000 bytes more than 1000]`)
      expect(result.error).toBe('Process exited with status 5')
    })

    test('a command that hangs ends at its limit, with what it printed so far', async () => {
      const result = await run('printf "so far"; sleep 60', {}, open({ run: 4_000 }))
      expect(result).toEqual({
        output: 'so far',
        error: 'The command did not end within 4 seconds and was stopped.',
      })
    })

    test('a user or key that the host does not know is refused without the secret in the text', async () => {
      const stranger = sshKeygen(join(folder.path, 'stranger')).key
      const error = await run('true', { key: stranger }).catch((error: Error) => error)
      expect(error).toMatchObject({ fault: 'upstream', message: "127.0.0.1 refused this user's credentials." })
      await expect(run('true', { key: undefined, password: 'geheim' })).rejects.toMatchObject({ fault: 'upstream' })
    })

    test('a host is learned at its first sight, once, and then its key is held to', async () => {
      await Promise.all([run('true'), run('true'), run('true')])
      expect(known()).toBe(`[127.0.0.1]:${sshd.port} ${sshd.hostKey}\n`)
      expect(await run('printf again', {}, open({ policy: 'strict' }))).toMatchObject({ output: 'again' })
    })

    test('a changed host key is refused by name', async () => {
      mkdirSync(join(folder.path, 'ssh'))
      const other = sshKeygen(join(folder.path, 'other')).publicKey.split(' ').slice(0, 2).join(' ')
      writeFileSync(knownHosts(), `# mine\n[127.0.0.1]:${sshd.port} ${other}\n`)
      const error = (await run('true').catch((error: Error) => error)) as Error
      expect(error).toMatchObject({ fault: 'upstream' })
      for (const part of [
        'has changed',
        `[127.0.0.1]:${sshd.port}`,
        'line 2',
        computeFingerprint(Buffer.from(sshd.hostKey.split(' ')[1]!, 'base64')),
      ])
        expect(error.message).toContain(part)
      expect(known()).toContain(other)
      expect(await run('printf on', { enable_insecure_key: true })).toMatchObject({ output: 'on' })
    })

    test('an unknown host is refused when the policy is strict', async () => {
      await expect(run('true', {}, open({ policy: 'strict' }))).rejects.toMatchObject({
        fault: 'upstream',
        message: expect.stringContaining('is not known'),
      })
    })

    test('hashed, plain, negated and revoked lines of known_hosts count', async () => {
      const strict = open({ policy: 'strict' })
      mkdirSync(join(folder.path, 'ssh'))
      const name = `[127.0.0.1]:${sshd.port}`
      writeFileSync(knownHosts(), `${name} ${sshd.hostKey}\n`)
      execFileSync('ssh-keygen', ['-q', '-H', '-f', knownHosts()], { stdio: 'ignore' })
      expect(known()).toMatch(/^\|1\|/)
      expect(await run('printf hashed', {}, strict)).toMatchObject({ output: 'hashed' })
      writeFileSync(knownHosts(), `garbage\n[127.0.0.*]:*,other ${sshd.hostKey} comment\n`)
      expect(await run('printf globbed', {}, strict)).toMatchObject({ output: 'globbed' })
      writeFileSync(knownHosts(), `*,!${name} ${sshd.hostKey}\n`)
      await expect(run('true', {}, strict)).rejects.toThrow('is not known')
      writeFileSync(knownHosts(), `@revoked * ${sshd.hostKey}\n`)
      await expect(run('true')).rejects.toThrow('revoked')
    })

    test('a fingerprint in the request is what counts', async () => {
      const fingerprint = computeFingerprint(Buffer.from(sshd.hostKey.split(' ')[1]!, 'base64'))
      expect(await run('printf pinned', { fingerprint }, open({ policy: 'strict' }))).toMatchObject({
        output: 'pinned',
      })
      const wrong = `SHA256:${'A'.repeat(43)}`
      await expect(run('true', { fingerprint: wrong })).rejects.toMatchObject({
        fault: 'upstream',
        message: expect.stringContaining(wrong),
      })
    })

    test.for([
      [['127.0.0.0/8'], true],
      [['127.0.0.1'], true],
      [['10.0.0.0/8', '*.example.test'], false],
      [['::1'], false],
    ] as const)('allowed hosts %o let 127.0.0.1 through: %s', async ([allowed, may]) => {
      const result = run('printf in', {}, open({ allowed }))
      if (may) expect(await result).toMatchObject({ output: 'in' })
      else await expect(result).rejects.toMatchObject({ fault: 'forbidden' })
    })

    test('a caller that goes away ends the connection', async () => {
      const going = new AbortController()
      const request = {
        host: '127.0.0.1',
        port: sshd.port,
        username: sshd.username,
        key: sshd.key,
      }
      const begun = join(folder.path, 'begun')
      const result = execute({ ...request, command: `touch ${begun}; sleep 60` }, ssh, going.signal)
      await until(() => expect(existsSync(begun)).toBe(true))
      going.abort()
      expect(await result).toMatchObject({ error: 'The caller went away.' })
    })
  },
)

describe('SSH execute on a host that misbehaves', () => {
  const hostKey = ssh2.utils.generateKeyPairSync('ed25519').private
  const cleanups: (() => void)[] = []
  afterEach(() => cleanups.splice(0).forEach(cleanup => cleanup()))

  const serve = async (onClient: (client: Connection) => void): Promise<number> => {
    const server = new ssh2.Server({ hostKeys: [hostKey] }, client => {
      client.on('error', () => {})
      onClient(client)
    })
    const port = await freePort()
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
    cleanups.push(() => server.close())
    return port
  }
  const serveRaw = async (onSocket: (socket: Socket) => void): Promise<number> => {
    const server = createServer(socket => {
      socket.on('error', () => {})
      cleanups.push(() => socket.destroy())
      onSocket(socket)
    })
    const port = await freePort()
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
    cleanups.push(() => server.close())
    return port
  }
  const run = (port: number, by = ssh, more: object = {}) =>
    execute({ host: '127.0.0.1', port, username: 'u', password: 'right', command: 'x', ...more }, by)
  const withPassword = (client: Connection): void =>
    void client.on('authentication', context =>
      context.method === 'password' && context.password === 'right' ? context.accept() : context.reject(['password']),
    )

  test('takes a password, also where it is asked for on the keyboard', async () => {
    const answer = (client: Connection): void =>
      void client.on('ready', () =>
        client.on('session', accept =>
          accept().on('exec', (accept, _, { command }) => {
            const channel = accept()
            channel.write(`ran ${command}`)
            channel.exit(0)
            channel.end()
          }),
        ),
      )
    const port = await serve(client => {
      withPassword(client)
      answer(client)
    })
    expect(await run(port)).toEqual({ output: 'ran x', error: '' })
    const error = await run(port, ssh, { password: 'wrong-secret' }).catch((error: Error) => error)
    expect(error).toMatchObject({ fault: 'upstream', message: expect.not.stringContaining('wrong-secret') })

    const keyboard = await serve(client => {
      client.on('authentication', context => {
        if (context.method !== 'keyboard-interactive') return context.reject(['keyboard-interactive'])
        context.prompt([{ prompt: 'Password: ', echo: false }], answers =>
          answers[0] === 'right' ? context.accept() : context.reject(),
        )
      })
      answer(client)
    })
    expect(await run(keyboard)).toEqual({ output: 'ran x', error: '' })
  })

  test('cut in the middle: the output is there', async () => {
    const port = await serve(client => {
      withPassword(client)
      client.on('ready', () =>
        client.on('session', accept =>
          accept().on('exec', accept => {
            accept().write('half of it')
            setTimeout(() => client.end(), 100)
          }),
        ),
      )
    })
    expect(await run(port)).toEqual({ output: 'half of it', error: 'The connection ended before the command did.' })
  })

  test('a command that is not taken', async () => {
    const port = await serve(client => {
      withPassword(client)
      client.on('ready', () => client.on('session', (_, reject) => reject()))
    })
    expect(await run(port)).toMatchObject({ output: '', error: expect.stringContaining('could not be started') })
  })

  test.for([
    ['is not there', undefined, 'upstream'],
    ['says nothing', () => {}, 'timeout'],
    ['closes at once', (socket: Socket) => socket.destroy(), 'upstream'],
    ['resets', (socket: Socket) => socket.resetAndDestroy(), 'upstream'],
    ['is no SSH server', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), 'upstream'],
    ['speaks garbage', (socket: Socket) => socket.write(`SSH-2.0-x\r\n${'\u0001'.repeat(100_000)}`), 'upstream'],
    ['breaks off the handshake', (socket: Socket) => socket.write('SSH-2.0-x\r\n', () => socket.end()), 'upstream'],
  ] as const)('a host that %s', async ([, behave, fault]) => {
    const port = behave ? await serveRaw(behave) : await freePort()
    await expect(run(port, open({ connect: 600 }))).rejects.toMatchObject({ fault })
  })

  test('a name that nobody has', async () => {
    await expect(execute({ host: 'nobody.invalid', username: 'u', password: 'p', command: 'x' })).rejects.toMatchObject(
      {
        fault: 'upstream',
        message: expect.stringContaining('nobody.invalid'),
      },
    )
  })

  test('no more than 32 at once', async () => {
    const port = await serveRaw(() => {})
    const patient = open({ connect: 1_000 })
    const all = await Promise.allSettled(Array.from({ length: 40 }, () => run(port, patient)))
    const faults = all.map(one => one.status === 'rejected' && one.reason.fault)
    expect(faults.filter(fault => fault === 'timeout')).toHaveLength(32)
    expect(faults.filter(fault => fault === 'unavailable')).toHaveLength(8)
  })
})
