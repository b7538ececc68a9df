import { randomInt } from 'node:crypto'
import { chown, mkdir, open, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ServiceError } from '#lib/errors.ts'
import { readTail } from '#lib/platform/bounded-file.ts'
import { type Account, getLastLine, killProcess, readCommandLine, startDetached } from '#lib/platform/processes.ts'
import { requireProgram } from './host-commands.ts'

/** The folder in a machine's folder that belongs to the account of passt: its sockets and its logs. */
const folderName = 'net'

/** The account of passt if root starts it and QEMU has no account of its own. As root, passt could not write its log. */
const nobody: Account = { user: 'nobody', uid: 65_534, gid: 65_534 }

/** Milliseconds within which a started passt must listen. */
const startTimeout = 5_000

/**
 * The address of the guest, which is not that of the host, and the gateway. Without `--map-gw`, the address of the gateway does
 * not stand for the loopback of the host.
 */
const addresses = ['-4', '-a', '10.0.3.15', '-n', '24', '-g', '10.0.3.2']

interface Options {
  readonly id: string
  readonly home: string
  /** The account that QEMU runs as, and passt with it; undefined for that of the service. */
  readonly account: Account | undefined
  readonly environment: NodeJS.ProcessEnv
  /** Whether the gateway's address leads to the loopback of the host. */
  readonly reachesLoopback: boolean
}

/** A passt that waits for its QEMU. */
export interface Passt {
  /** The path of its socket, relative to the machine's folder. */
  readonly path: string
  /** Ends it; one that QEMU uses ends with QEMU by itself. */
  kill(): void
}

/**
 * Whether a program listens at a socket that has this name. The file of a socket is there a moment before: QEMU, which tries to
 * connect only once, would leave its card disconnected.
 */
const isListening = async (socket: string): Promise<boolean> =>
  // A line is "ADDRESS: COUNT PROTOCOL FLAGS TYPE STATE INODE PATH"; the flag is that of a socket that accepts connections.
  (await readFile('/proc/net/unix', 'utf8'))
    .split('\n')
    .some(line => line.endsWith(` ${socket}`) && line.split(' ')[3] === '00010000')

/** Throws `unsupported` if passt is not installed. */
export const requirePasst = (): Promise<string> => requireProgram('passt', 'passt')

/**
 * Starts passt for the card `card` of a machine: it carries what the guest sends out, as a program of the host would send it,
 * and opens no port. It serves one QEMU and ends with it. Throws `unavailable` with the last line of its log.
 */
export const startPasst = async (card: string, options: Options): Promise<Passt> => {
  const { id, home, account, environment, reachesLoopback } = options
  const program = await requirePasst()
  const passtAccount = process.getuid?.() === 0 ? (account ?? nobody) : undefined
  const folder = join(home, folderName)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (passtAccount) await chown(folder, passtAccount.uid, passtAccount.gid)
  // Each start has a socket of its own, because passt removes its socket when it ends, and that may be later.
  for (const name of await readdir(folder)) if (name.includes(card)) await rm(join(folder, name), { force: true })
  const socket = `${id}.${card}.${randomInt(1_000_000)}`
  const errors = join(folder, `${card}.errors`)
  const args = [
    ...['--foreground', '--one-off', '--quiet', '--socket', socket, '--log-file', `${card}.log`],
    ...[...addresses, '-t', 'none', '-u', 'none'],
    ...(reachesLoopback ? [] : ['--no-map-gw']),
  ]
  await using output = await open(errors, 'ax', 0o600)
  const { pid, exited } = await startDetached(program, args, {
    cwd: folder,
    output: output.fd,
    environment,
    account: passtAccount,
  })
  let hasExited = false
  void exited.then(() => (hasExited = true))
  for (const end = performance.now() + startTimeout; !(await isListening(socket)); await wait(5)) {
    if (!hasExited && performance.now() < end) continue
    if (!hasExited) killProcess(pid)
    const text = await readTail(errors)
    throw new ServiceError('unavailable', `passt did not start: ${getLastLine(text) || 'it gave no reason'}`)
  }
  return {
    path: `${folderName}/${socket}`,
    kill() {
      if (!hasExited) killProcess(pid)
    },
  }
}

/**
 * Ends the passt processes of a machine that no QEMU uses, because the service was killed before it had started QEMU. Works only
 * on Linux, where processes can be listed.
 */
export const killUnusedPasst = async (id: string): Promise<void> => {
  if (process.platform !== 'linux') return
  for (const pid of (await readdir('/proc')).map(Number).filter(Number.isInteger))
    if ((await readCommandLine(pid))?.includes(` --socket ${id}.net`)) killProcess(pid)
}
