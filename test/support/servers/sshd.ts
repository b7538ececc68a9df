import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'

const program = '/usr/sbin/sshd'

/** Whether Debian's OpenSSH server is here; with REQUIRE_SSHD=1 its absence is a failure, not a reason to skip. */
export const sshdInstalled = existsSync(program)
if (process.env['REQUIRE_SSHD'] === '1' && !sshdInstalled)
  throw new Error(`REQUIRE_SSHD is set, and ${program} is missing`)

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

/** Makes a key pair as people do. */
export const sshKeygen = (file: string, passphrase = ''): { readonly key: string; readonly publicKey: string } => {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', 'test', '-f', file])
  return { key: readFileSync(file, 'utf8'), publicKey: readFileSync(`${file}.pub`, 'utf8').trim() }
}

export interface Sshd extends AsyncDisposable {
  readonly port: number
  readonly username: string
  /** A key that may sign in. */
  readonly key: string
  /** The same key, behind the passphrase `open sesame`. */
  readonly lockedKey: string
  /** The server's own public key, as in known_hosts. */
  readonly hostKey: string
}

/** A real sshd on a port of the loopback, for the user who runs the tests; everything of it is in `folder`. */
export const startSshd = async (folder: string, port?: number): Promise<Sshd> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const at = port ?? (await freePort())
  const host = sshKeygen(join(folder, 'host'))
  const plain = sshKeygen(join(folder, 'user'))
  const locked = sshKeygen(join(folder, 'locked'), 'open sesame')
  writeFileSync(join(folder, 'authorized_keys'), `${plain.publicKey}\n${locked.publicKey}\n`)
  writeFileSync(
    join(folder, 'sshd_config'),
    `Port ${at}
ListenAddress 127.0.0.1
HostKey ${join(folder, 'host')}
AuthorizedKeysFile ${join(folder, 'authorized_keys')}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
`,
  )
  mkdirSync('/run/sshd', { recursive: true })
  const child = spawn(program, ['-D', '-e', '-f', join(folder, 'sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = new Promise(resolve => child.once('exit', resolve))
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (text: Buffer) => {
      printed += text.toString()
      if (printed.includes('Server listening')) resolve()
    })
    child.once('exit', () => reject(new Error(`sshd ended: ${printed}`)))
  })
  return {
    port: at,
    username: userInfo().username,
    key: plain.key,
    lockedKey: locked.key,
    hostKey: host.publicKey.split(' ').slice(0, 2).join(' '),
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
