import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** An ssh that signs in with a key of its own, and knows one server. */
export interface SshClient {
  /** As in a file `id_ed25519.pub`. */
  readonly publicKey: string
  /** Trusts this host key alone, wherever the server is reached. */
  trust(hostKey: string): void
  /** Runs a command as `user` and returns its standard output. Throws what ssh has printed if it fails. */
  run(user: string, command: string, route: SshRoute): Promise<string>
}

/** How the server is reached: a port of this host, or a command whose input and output lead there. */
interface SshRoute {
  readonly port?: number
  readonly proxyCommand?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Creates an ssh client with its files in `folder`. */
export const createSshClient = (folder: string): SshClient => {
  const [key, knownHosts] = [join(folder, 'key'), join(folder, 'known_hosts')]
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  return {
    publicKey: readFileSync(`${key}.pub`, 'utf8').trim(),
    trust: hostKey => writeFileSync(knownHosts, `guest ${hostKey}\n`),
    async run(user, command, { port = 22, proxyCommand = 'none', env }) {
      const options = {
        IdentityFile: key,
        IdentitiesOnly: 'yes',
        UserKnownHostsFile: knownHosts,
        HostKeyAlias: 'guest',
        StrictHostKeyChecking: 'yes',
        BatchMode: 'yes',
        ConnectTimeout: '60',
        ProxyCommand: proxyCommand,
      }
      const args = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
      const { stdout } = await execute(
        'ssh',
        ['-F', 'none', ...args, '-p', String(port), `${user}@127.0.0.1`, command],
        {
          env: { PATH: process.env['PATH'], ...env },
          maxBuffer: 64 * 2 ** 20,
        },
      )
      return stdout
    },
  }
}
