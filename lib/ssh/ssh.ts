import type ssh2 from 'ssh2'
import type { Client, ClientChannel, ConnectConfig } from 'ssh2'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { ResolveHost } from './allowed-hosts.ts'
import { connect } from './connect.ts'
import type { HostKeys } from './host-keys.ts'
import { createOutput } from './output.ts'
import type { SshRequest, SshResult } from './schemas.ts'

/** Runs commands on other hosts. */
export interface Ssh {
  /**
   * What the command printed, and why it did not end well, if so. Throws `invalid` for a key that cannot be read,
   * `forbidden` for a host that is not allowed, `upstream` when the host cannot be reached, shows a wrong key or refuses
   * the credentials, `timeout` when it does not answer in time. An aborted signal ends the connection.
   */
  execute(request: SshRequest, signal: AbortSignal): Promise<SshResult>
  close(): Promise<void>
}

interface Options {
  readonly hostKeys: HostKeys
  readonly resolveHost: ResolveHost
  /** Milliseconds until the host must have let us in. */
  readonly connectLimit: number
  /** Milliseconds that a command may run. */
  readonly runLimit: number
  /** Bytes of output that are kept. */
  readonly outputLimit: number
}

const most = 32

// A third of the whole program, for one endpoint: loaded when it is needed.
const load = async (): Promise<typeof ssh2> => (await import('ssh2')).default

type Credentials = Pick<ConnectConfig, 'privateKey' | 'passphrase' | 'password' | 'tryKeyboard' | 'authHandler'>

const credentialsOf = async ({ key, passphrase, password }: SshRequest): Promise<Credentials> => {
  const { utils } = await load()
  const parsed = key ? utils.parseKey(key, passphrase) : undefined
  if (parsed && !(parsed instanceof Error) && ![parsed].flat().every(one => one.isPrivateKey()))
    throw new ServiceError('invalid', 'The key cannot be used: it is a public key, and the private one is needed.')
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

export const createSsh = ({ hostKeys, resolveHost, connectLimit, runLimit, outputLimit }: Options): Ssh => {
  const clients = new Set<Client>()

  const run = (client: Client, command: string, signal: AbortSignal): Promise<SshResult> => {
    const output = createOutput(outputLimit)
    const { promise, resolve } = Promise.withResolvers<SshResult>()
    const end = (error: string): void => resolve({ output: output.text(), error })
    const timer = setTimeout(
      () => end(`The command did not end within ${runLimit / 1000} seconds and was given up.`),
      runLimit,
    )
    signal.addEventListener('abort', () => end('The caller went away.'), { once: true })
    client.once('close', () => end('The connection ended before the command did.'))
    const started = (error: Error | undefined, channel: ClientChannel): void => {
      if (error) return end(`The command could not be started: ${messageOf(error)}.`)
      let outcome = 'The connection ended before the command did.'
      // Nothing is typed: a command that reads must not wait for it.
      channel.end()
      channel.on('data', output.sink())
      channel.stderr.on('data', output.sink())
      channel.on('exit', (code: number | null, signalName?: string) => {
        if (code === 0) outcome = ''
        else if (code !== null) outcome = `Process exited with status ${code}`
        else outcome = `Process was ended by signal ${signalName?.replace(/^SIG/, '')}`
      })
      channel.on('error', () => {})
      channel.once('close', () => end(outcome))
    }
    try {
      client.exec(command, started)
    } catch {
      // It ended before the command could be sent.
      end('The connection ended before the command did.')
    }
    return promise.finally(() => clearTimeout(timer))
  }

  const connectAndRun = async (request: SshRequest, signal: AbortSignal): Promise<SshResult> => {
    const { host, port, username, command } = request
    const credentials = await credentialsOf(request)
    const [address, check] = [await resolveHost(host), await hostKeys(request)]
    const { Client } = await load()
    const client = new Client()
    clients.add(client)
    try {
      const config = { host: address, port, username, ...credentials }
      await connect(client, config, { name: host, check, limit: connectLimit, signal })
      return await run(client, command, signal)
    } finally {
      clients.delete(client)
      client.destroy()
    }
  }

  let running = 0
  return {
    async execute(request, signal) {
      if (running >= most)
        throw new ServiceError('unavailable', `${most} commands run over SSH at this moment; try again later.`)
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
