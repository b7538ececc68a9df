import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'

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
  /** Is told what the program prints, as it comes. */
  readonly onOutput?: (text: string) => void
  /** Bytes kept of each output; the rest is read and dropped. */
  readonly cap?: number
}

/**
 * Runs a program to its end and gives its exit and output. Arguments are a list and never see a shell.
 * Rejects when the program cannot be started; an exit code other than 0 is for the caller to judge.
 */
export const runProcess = (program: string, args: readonly string[], limits: Limits): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const cap = limits.cap ?? 1 << 20
    const child = spawn(program, args, {
      cwd: limits.cwd,
      timeout: limits.timeout,
      killSignal: 'SIGKILL',
      signal: limits.signal,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const collect = (stream: NodeJS.ReadableStream): (() => string) => {
      const chunks: Buffer[] = []
      let size = 0
      stream.on('data', (chunk: Buffer) => {
        if (size < cap) chunks.push(chunk.subarray(0, cap - size))
        size += chunk.length
      })
      return () => Buffer.concat(chunks).toString('utf8')
    }
    const stdout = collect(child.stdout)
    const { onOutput } = limits
    if (onOutput) child.stdout.on('data', (chunk: Buffer) => onOutput(chunk.toString('utf8')))
    const stderr = collect(child.stderr)
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, stdout: stdout(), stderr: stderr() }))
  })

/** The last line of a program's output that says something: by custom, the reason. */
export const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? ''

/**
 * Starts a program that lives on when the service ends. Its output goes to `output` (an open file); it reads nothing.
 * Gives its pid and a promise of its exit, which holds for as long as the service lives.
 */
export const startDetached = (
  program: string,
  args: readonly string[],
  { cwd, output }: { cwd: string; output: number },
): Promise<{ readonly pid: number; readonly exited: Promise<number | null> }> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', output, output] })
    const exited = new Promise<number | null>(settle => child.once('exit', code => settle(code)))
    child.once('error', reject)
    child.once('spawn', () => {
      child.unref()
      resolve({ pid: child.pid!, exited })
    })
  })

/** A program that runs beside the service and talks with it; it is asked to end by the end of its input. */
export interface Companion {
  /** What is written is lost once the process has ended. */
  readonly input: Writable
  readonly output: Readable
  /** Settles when it has ended, or could not be started: with why. */
  readonly ended: Promise<string>
  kill(): void
}

/** Starts a program beside the service, with the service's own standard error. */
export const startCompanion = (program: string, args: readonly string[]): Companion => {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.on('error', () => {})
  const ended = new Promise<string>(settle => {
    child.once('error', error => settle(error.message))
    child.once('exit', (code, signal) => settle(`it ended with ${signal ?? code}`))
  })
  return { input: child.stdin, output: child.stdout, ended, kill: () => void child.kill('SIGKILL') }
}

/** The command line of a living process, or undefined when there is none of this pid. */
export const commandLine = async (pid: number): Promise<string | undefined> => {
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
