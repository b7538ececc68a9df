import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { OwnProgram } from './program-parts.ts'

/** The account that a process runs as. */
export interface Account {
  readonly user: string
  readonly uid: number
  readonly gid: number
}

const getIds = (account: Account | undefined): { uid?: number; gid?: number } =>
  account ? { uid: account.uid, gid: account.gid } : {}

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Limits {
  readonly cwd?: string
  /** Milliseconds after which the process is killed. */
  readonly timeout: number
  readonly signal?: AbortSignal
  readonly account?: Account | undefined
  /** All of its environment; left out, it gets that of the service. */
  readonly environment?: NodeJS.ProcessEnv
  /** Is told what the program prints, as it comes. */
  readonly onOutput?: (text: string) => void
  /** Bytes kept of each output; the rest is read and dropped. */
  readonly cap?: number
  /** Open files that the program inherits, beside its three standard ones (see `getInheritedPath`). */
  readonly descriptors?: readonly number[]
}

/**
 * Runs a program to its end and gives its exit and output. Arguments are a list and never see a shell.
 * Rejects when the program cannot be started; an exit code other than 0 is for the caller to handle.
 */
export const runProcess = (program: string, args: readonly string[], limits: Limits): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const cap = limits.cap ?? 1 << 20
    const child = spawn(program, args, {
      cwd: limits.cwd,
      ...(limits.environment && { env: limits.environment }),
      timeout: limits.timeout,
      killSignal: 'SIGKILL',
      signal: limits.signal,
      ...getIds(limits.account),
      stdio: ['ignore', 'pipe', 'pipe', ...(limits.descriptors ?? [])],
    })
    // Both outputs are pipes, which the types do not say: more descriptors may follow.
    const collect = (stream: NodeJS.ReadableStream | null | undefined): (() => string) => {
      const chunks: Buffer[] = []
      let size = 0
      stream?.on('data', (chunk: Buffer) => {
        if (size < cap) chunks.push(chunk.subarray(0, cap - size))
        size += chunk.length
      })
      return () => Buffer.concat(chunks).toString('utf8')
    }
    const stdout = collect(child.stdout)
    const { onOutput } = limits
    if (onOutput) child.stdout?.on('data', (chunk: Buffer) => onOutput(chunk.toString('utf8')))
    const stderr = collect(child.stderr)
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, stdout: stdout(), stderr: stderr() }))
  })

/** The last line of a program's output that says something: by custom, the reason. */
export const getLastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? ''

interface Detached {
  readonly cwd: string
  /** An open file that takes what the program prints. */
  readonly output: number
  /** All of its environment: what outlives the service must not keep what the service was given. */
  readonly environment: NodeJS.ProcessEnv
  /** Open files that it gets as its descriptors 3, 4, …, in this order. */
  readonly descriptors?: readonly number[]
  /** Left out, it runs as the service does. `cwd` is entered before the account changes. */
  readonly account?: Account | undefined
}

/**
 * Starts a program that lives on when the service ends. It reads nothing.
 * Gives its pid and a promise of its exit, which holds for as long as the service lives.
 */
export const startDetached = (
  program: string,
  args: readonly string[],
  { cwd, output, environment, descriptors = [], account }: Detached,
): Promise<{ readonly pid: number; readonly exited: Promise<number | null> }> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: environment,
      detached: true,
      stdio: ['ignore', output, output, ...descriptors],
      ...getIds(account),
    })
    const exited = new Promise<number | null>(settle => child.once('exit', code => settle(code)))
    child.once('error', reject)
    child.once('spawn', () => {
      child.unref()
      // A process that has started has an id.
      resolve({ pid: child.pid!, exited })
    })
  })

/**
 * Copies what comes over a connection to an open file, from its beginning to its end, in a process of its own: gigabytes would
 * keep this one busy. Nothing may have been read from the connection, which belongs to that process from then on. Throws
 * `no-space`, the reason of `signal`, or what the program says.
 */
export const copyStream = (connection: Socket, file: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn('cat', [], {
      // Without a PATH the system looks in its own folders, where cat is.
      env: { LC_ALL: 'C' },
      stdio: [connection, file, 'pipe'],
    })
    const kill = (): void => void child.kill('SIGKILL')
    let said = ''
    connection.destroy()
    child.stderr?.on('data', (text: Buffer) => void (said = (said + text.toString()).slice(-1_000)))
    signal.addEventListener('abort', kill)
    if (signal.aborted) kill()
    child.once('error', error =>
      reject(new ServiceError('unavailable', `cat could not be started: ${messageOf(error)}`)),
    )
    child.once('close', code => {
      signal.removeEventListener('abort', kill)
      if (signal.aborted) reject(signal.reason)
      else if (code === 0) resolve()
      else if (/no space left|quota exceeded/i.test(said))
        reject(new ServiceError('no-space', 'The disk of the host is full. Free space, then try again.'))
      else reject(new ServiceError('unavailable', `The copy to a file of the host failed: ${getLastLine(said)}`))
    })
  })

/** A program of ours that runs beside the service and talks with it; it ends when the service does. */
export interface Companion {
  /** What a process is told that has ended is lost. */
  send(message: object): void
  onMessage(listener: (message: unknown) => void): void
  /** Settles when it has ended, or could not be started: with why. */
  readonly ended: Promise<string>
  kill(): void
}

/** Starts a program of ours beside the service, with the service's own standard error. */
export const startCompanion = ({ args }: OwnProgram): Companion => {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  const ended = new Promise<string>(settle => {
    child.once('error', error => settle(error.message))
    child.once('exit', (code, signal) => settle(`it ended with ${signal ?? code}`))
  })
  return {
    send: message => void (child.connected && child.send(message, () => {})),
    onMessage: listener => void child.on('message', listener),
    ended,
    kill: () => void child.kill('SIGKILL'),
  }
}

/** The command line of a living process, or undefined when there is none of this pid. */
export const readCommandLine = async (pid: number): Promise<string | undefined> => {
  if (process.platform === 'linux')
    return readFile(`/proc/${pid}/cmdline`, 'utf8').then(
      text => (text === '' ? undefined : text.replaceAll('\0', ' ')),
      () => undefined,
    )
  const { code, stdout } = await runProcess('ps', ['-o', 'command=', '-p', String(pid)], { timeout: 5_000 })
  return code === 0 ? stdout.trim() : undefined
}

/** Ends a process at once, if it is there. */
export const killProcess = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It was gone already, which is what was wanted.
  }
}
