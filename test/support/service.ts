import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Answer } from './harness.ts'

const builtProgram = resolve('dist/vmhost.mjs')

export interface StartOptions {
  /** The file of the program, if it is not that of dist/. */
  readonly program?: string
  readonly state: string
  readonly driver?: 'qemu' | 'embedded'
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** Another build of the program, or its whole environment, or another present folder. */
  readonly command?: readonly string[]
  readonly environment?: NodeJS.ProcessEnv
  readonly cwd?: string
  /** An open file that it is started with, as its descriptor 100. */
  readonly inherits?: number
  /** `at once`: what never comes to serve is not waited for. */
  readonly ready?: 'served' | 'at once'
}

/** A service as its users have it: the built program in a process of its own. */
export interface Service {
  readonly url: string
  readonly pid: number
  /** What it printed when it started. */
  readonly printed: string
  call(
    method: string,
    path: string,
    ask?: { token?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer>
  signIn(password?: string): Promise<string>
  /** SIGTERM; gives the exit code. */
  stop(): Promise<number | null>
  /** SIGKILL. */
  kill(): Promise<void>
  /** How many of its threads wait in the kernel for the other end of a pipe. */
  threadsInPipe(): number
  /** The pid of its events process; undefined when there is none just now. */
  eventsProcess(): number | undefined
  /** All that it wrote to its log. */
  log(): string
}

export const rootPassword = 'Correct-Horse-9-Battery'

/** The services that were started on each state folder. */
const services = new Map<string, ChildProcess[]>()

/** Ends what a failed test left: the services, and the QEMUs, which outlive them by design. */
const endAll = (state: string): void => {
  for (const child of services.get(state) ?? []) child.kill('SIGKILL')
  services.delete(state)
  for (const file of globSync(join(state, 'machines/qemu/*/qemu.pid')))
    try {
      process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL')
    } catch {
      // It had ended.
    }
}

/** A folder for one test's state; disposing ends what runs on it and deletes it. */
export const newState = (): { path: string } & Disposable => {
  const path = mkdtempSync(join(tmpdir(), 'vmhost-service-'))
  return {
    path,
    [Symbol.dispose]() {
      endAll(path)
      rmSync(path, { recursive: true, force: true })
    },
  }
}

const environment = (
  state: string,
  driver: string,
  more: Readonly<Record<string, string>> = {},
): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: state,
  VMHOST_STATE: state,
  VMHOST_DRIVER: driver,
  VMHOST_LISTEN: 'https://127.0.0.1:0',
  // Images and storages of tests are there.
  VMHOST_ALLOWED_FOLDERS: tmpdir(),
  ...more,
})

/** Starts a command of the program; the caller closes its standard input. */
export const startProgram = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  state = tmpdir(),
): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [builtProgram, ...args], { env: environment(state, 'embedded', env), cwd: tmpdir() })

/** Runs the program to its end, for what does not stay. */
export const runProgram = async (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  state = tmpdir(),
  stdin = '',
): Promise<{ code: number | null; stdout: string; stderr: string }> => {
  const child = startProgram(args, env, state)
  child.stdin.end(stdin)
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (text: Buffer) => void (output.stdout += text.toString()))
  child.stderr.on('data', (text: Buffer) => void (output.stderr += text.toString()))
  const code = await new Promise<number | null>(settle => child.once('close', settle))
  return { code, ...output }
}

const started = (child: ChildProcess, output: () => string, log: () => string): Promise<void> =>
  new Promise((settle, reject) => {
    child.stdout!.on('data', () => output().includes('Then try:') && settle())
    child.once('exit', code => reject(new Error(`the service ended with ${code}: ${log()}`)))
  })

/** Starts the service and waits until it says that it serves. */
export const startService = async ({
  program = builtProgram,
  state,
  driver = 'embedded',
  env = {},
  args = [],
  command: [file = '', ...before] = [process.execPath, program],
  environment: wholeEnvironment = environment(state, driver, env),
  cwd = tmpdir(),
  inherits,
  ready = 'served',
}: StartOptions): Promise<Service> => {
  const child = spawn(file, [...before, 'serve', ...args], {
    env: wholeEnvironment,
    cwd,
    stdio: [
      'pipe',
      'pipe',
      'pipe',
      ...(inherits === undefined ? [] : [...Array<'ignore'>(97).fill('ignore'), inherits]),
    ],
  })
  services.set(state, [...(services.get(state) ?? []), child])
  let printed = ''
  let log = ''
  child.stdout!.on('data', (text: Buffer) => void (printed += text.toString()))
  child.stderr!.on('data', (text: Buffer) => void (log += text.toString()))
  const exited = new Promise<number | null>(settle => child.once('exit', settle))
  if (ready === 'served')
    await started(
      child,
      () => printed,
      () => log,
    )
  const url = /vmhost serves (\S+)/.exec(printed)?.[1] ?? ''
  const agent = url.startsWith('https')
    ? new Agent({ ca: readFileSync(join(state, 'tls', 'cert.pem')), keepAlive: true })
    : undefined

  const call: Service['call'] = (method, path, { token, body, headers = {} } = {}) =>
    new Promise((settle, reject) => {
      const send = agent ? httpsRequest : httpRequest
      const payload = body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body)
      // Node itself sends no length of the body of a DELETE.
      const length = payload && method === 'DELETE' && { 'content-length': String(Buffer.byteLength(payload)) }
      const sent = send(url + path, {
        method,
        ...(agent && { agent }),
        headers: { ...(token && { authorization: `Bearer ${token}` }), ...length, ...headers },
      })
      sent.once('error', reject)
      sent.once('response', response => {
        let text = ''
        response.on('data', (chunk: Buffer) => void (text += chunk.toString()))
        response.once('error', reject)
        response.once('end', () =>
          settle({
            status: response.statusCode!,
            body: text === '' ? undefined : JSON.parse(text),
            headers: new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
          }),
        )
      })
      sent.end(payload)
    })

  return {
    url,
    pid: child.pid!,
    printed,
    call,
    log: () => log,
    threadsInPipe() {
      const threads = globSync(`/proc/${child.pid}/task/*/syscall`)
      // openat(2) is call 257 of x86-64: of a thread that is in it at this moment, or for ever.
      return threads.filter(file => /^(257|56) /.test(readFileSync(file, 'utf8'))).length
    },
    eventsProcess() {
      const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
      return children
        .split(' ')
        .filter(Boolean)
        .map(Number)
        .find(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').match(/events\.mjs|__events/))
    },
    async signIn(password = rootPassword) {
      const { status, body } = await call('POST', '/api/v1/auth/token', { body: { email: 'root', password } })
      if (status !== 200) throw new Error(`sign-in gave ${status}: ${body.message}`)
      return body.token
    },
    async stop() {
      child.kill('SIGTERM')
      return exited
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
