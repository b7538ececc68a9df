import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { executable } from '../support/executable.ts'
import { buildFloor } from './floors.ts'

/** A server under measurement. */
export interface Server {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

const waitFor = (child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> =>
  new Promise((found, reject) => {
    let output = ''
    child.stdout!.on('data', (text: Buffer) => {
      output += text.toString()
      const match = pattern.exec(output)
      if (match) found(match)
    })
    child.once('exit', code => reject(new Error(`a server of the benchmark ended with ${code}: ${output}`)))
  })

const serve = async (
  args: readonly string[],
  pattern: RegExp,
  env: NodeJS.ProcessEnv,
  program = process.execPath,
): Promise<Server> => {
  const child = spawn(program, args, { env, cwd: tmpdir(), stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<void>(settle => child.once('exit', () => settle()))
  const match = await waitFor(child, pattern)
  return {
    pid: child.pid!,
    port: Number(match[1]),
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

const startFloor = (name: string, ...args: readonly string[]): Promise<Server> =>
  serve([buildFloor(name), ...args], /bare serves (\d+)/, { PATH: process.env['PATH'] })

/** Node and its HTTP server, with nothing on top. */
export const startBare = (): Promise<Server> => startFloor('bare')

/** Hono on Node's HTTP server, with nothing on top. */
export const startBareHono = (): Promise<Server> => startFloor('bare-hono')

/** A WebSocket server, with nothing on top. */
export const startBareSockets = (): Promise<Server> => startFloor('bare-sockets')

/** A server of the files of a folder, with nothing on top. */
export const startBareFiles = (folder: string): Promise<Server> => startFloor('bare-files', folder)

const servesPattern = /vmhost serves http:\/\/127\.0\.0\.1:(\d+)/
const createEnvironment = (state: string): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  VMHOST_STATE: state,
  VMHOST_LISTEN: 'http://127.0.0.1:0',
  VMHOST_DRIVER: 'embedded',
  VMHOST_DEMO: 'off',
})

/** The built service on a state folder, over plain HTTP. */
export const startVmhost = (state: string, env: NodeJS.ProcessEnv = {}): Promise<Server> =>
  serve([resolve('dist/vmhost.mjs'), 'serve'], servesPattern, { ...createEnvironment(state), ...env })

/** The same service from the single executable. */
export const startExecutable = (state: string): Promise<Server> =>
  serve(['serve'], servesPattern, createEnvironment(state), executable)

/** A process and those that it has started, which still run. */
const family = (pid: number): readonly number[] => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(family)]
}

/** Microseconds of processor time that a process and its children have used so far. */
export const familyTime = (pid: number): number => family(pid).reduce((sum, one) => sum + processorTime(one), 0)

/** MB of memory that a process and its children hold. */
export const familyMemory = (pid: number): number => family(pid).reduce((sum, one) => sum + residentMemory(one), 0)

/** Microseconds of processor time that a process has used so far. */
export const processorTime = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  const hertz = 100
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / hertz
}

/** Microseconds of processor time that the present threads of a process have used, for what is too short for the clock ticks of `processorTime`. */
export const threadsTime = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map(thread => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1000)
    .reduce((sum, one) => sum + one, 0)

/** MB of memory that a process holds. */
export const residentMemory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

/** MB of memory that a process has held at most. */
export const peakMemory = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
