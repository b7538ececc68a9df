import type ssh2 from 'ssh2'
import type { Client, ClientChannel, ConnectConfig } from 'ssh2'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { ResolveHost } from './allowed-hosts.ts'
import { connect } from './connect.ts'
import type { StartHostKeyCheck } from './host-keys.ts'
import { createOutput } from './output.ts'
import type { SshRequest, SshResult } from './schemas.ts'

/** Runs commands on other hosts. */
export interface Ssh {
  /**
   * Runs the command of a request. Returns its output and, when it failed, the reason. Throws `invalid` for a key that cannot
   * be read, `forbidden` for a host that is not allowed, `upstream` when the host cannot be reached, presents a wrong key or
   * refuses the credentials, `timeout` when it does not answer in time, and `unavailable` when too many commands run. An
   * aborted signal ends the connection.
   */
  execute(request: SshRequest, signal: AbortSignal): Promise<SshResult>
  close(): Promise<void>
}

interface SshOptions {
  readonly startHostKeyCheck: StartHostKeyCheck
  readonly resolveHost: ResolveHost
  /** Maximum milliseconds to connect and sign in. */
  readonly connectLimit: number
  /** Maximum milliseconds of a command. */
  readonly runLimit: number
  /** Maximum bytes of output that the service keeps. */
  readonly outputLimit: number
}

/** Maximum number of commands that run at the same time. */
const maxCommands = 32

// ssh2 is a third of the whole program and serves one endpoint, so the first request loads it.
const loadSsh2 = async (): Promise<typeof ssh2> => (await import('ssh2')).default

type Credentials = Pick<ConnectConfig, 'privateKey' | 'passphrase' | 'password' | 'tryKeyboard' | 'authHandler'>

const parseCredentials = async ({ key, passphrase, password }: SshRequest): Promise<Credentials> => {
  const { utils } = await loadSsh2()
  const parsed = key ? utils.parseKey(key, passphrase) : undefined
  if (parsed && !(parsed instanceof Error) && ![parsed].flat().every(key => key.isPrivateKey()))
    throw new ServiceError('invalid', 'The key cannot be used: it is a public key. Send the private key.')
  if (parsed instanceof Error) {
    const why = /no passphrase/i.test(parsed.message)
      ? 'it is encrypted, and there is no passphrase'
      : /passphrase|integrity|decrypt/i.test(parsed.message)
        ? 'the passphrase is wrong'
        : 'it must be a private key in PEM or OpenSSH form'
    throw new ServiceError('invalid', `The key cannot be used: ${why}.`)
  }
  return {
    ...(key && { privateKey: key, ...(passphrase !== undefined && { passphrase }) }),
    ...(password && { password, tryKeyboard: true }),
    authHandler: [
      ...(key ? (['publickey'] as const) : []),
      ...(password ? (['password', 'keyboard-interactive'] as const) : []),
    ],
  }
}

export const createSsh = ({ startHostKeyCheck, resolveHost, connectLimit, runLimit, outputLimit }: SshOptions): Ssh => {
  const clients = new Set<Client>()

  const run = (client: Client, command: string, signal: AbortSignal): Promise<SshResult> => {
    const output = createOutput(outputLimit)
    const { promise, resolve } = Promise.withResolvers<SshResult>()
    const finish = (error: string): void => resolve({ output: output.readText(), error })
    const timer = setTimeout(
      () => finish(`The command did not end within ${runLimit / 1000} seconds and was stopped.`),
      runLimit,
    )
    signal.addEventListener('abort', () => finish('The caller went away.'), { once: true })
    client.once('close', () => finish('The connection ended before the command did.'))
    const onStarted = (error: Error | undefined, channel: ClientChannel): void => {
      if (error) return finish(`The command could not be started: ${messageOf(error)}.`)
      let outcome = 'The connection ended before the command did.'
      // There is no input, so that a command that reads it does not wait.
      channel.end()
      channel.on('data', output.createSink())
      channel.stderr.on('data', output.createSink())
      channel.on('exit', (code: number | null, signalName?: string) => {
        if (code === 0) outcome = ''
        else if (code !== null) outcome = `Process exited with status ${code}`
        else outcome = `Process was ended by signal ${signalName?.replace(/^SIG/, '')}`
      })
      channel.on('error', () => {})
      channel.once('close', () => finish(outcome))
    }
    try {
      client.exec(command, onStarted)
    } catch {
      // The connection ended before the command could be sent.
      finish('The connection ended before the command did.')
    }
    return promise.finally(() => clearTimeout(timer))
  }

  const connectAndRun = async (request: SshRequest, signal: AbortSignal): Promise<SshResult> => {
    const { host, port, username, command } = request
    const credentials = await parseCredentials(request)
    const [address, hostKeyCheck] = [await resolveHost(host), await startHostKeyCheck(request)]
    const { Client } = await loadSsh2()
    const client = new Client()
    clients.add(client)
    try {
      const config = { host: address, port, username, ...credentials }
      await connect(client, config, { name: host, hostKeyCheck, timeLimit: connectLimit, signal })
      return await run(client, command, signal)
    } finally {
      clients.delete(client)
      client.destroy()
    }
  }

  let running = 0
  return {
    async execute(request, signal) {
      if (running >= maxCommands)
        throw new ServiceError(
          'unavailable',
          `${maxCommands} commands already run over SSH, which is the maximum. Try again later.`,
        )
      running += 1
      try {
        return await connectAndRun(request, signal)
      } finally {
        running -= 1
      }
    },
    async close() {
      for (const client of clients) client.destroy()
    },
  }
}
