import { spawn } from 'node:child_process'

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

interface Limits {
  readonly cwd?: string
  /** Milliseconds after which the process is killed. */
  readonly timeout: number
  readonly signal?: AbortSignal
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
    const stderr = collect(child.stderr)
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, stdout: stdout(), stderr: stderr() }))
  })

/** The last line of a program's output that says something: by custom, the reason. */
export const lastLine = (text: string): string => text.trim().split('\n').at(-1)?.trim() ?? ''
