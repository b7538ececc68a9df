import { spawn } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** A script to serve, and what surrounds it. */
export interface WorkerdOptions {
  /** The file of the script. Other modules and texts (`.json`) in its folder are parts of it. */
  readonly script: string
  readonly compatibilityDate: string
  readonly compatibilityFlags: readonly string[]
  /** Binding → class of the script, with a SQLite database for each object. */
  readonly durableObjects?: Readonly<Record<string, string>>
  /** Binding → entrypoint of the same script. */
  readonly entrypoints?: Readonly<Record<string, string>>
  /** Binding → text. workerd gets them by its environment, so that secrets are in no file. */
  readonly variables?: Readonly<Record<string, string>>
  /** The folder of the databases; in memory without it. */
  readonly folder?: string
  /** Where to listen; any free port of the loopback by default. */
  readonly address?: string
  /** Headers that are removed from every request, because clients must not set them. */
  readonly removedHeaders?: readonly string[]
  /** Which addresses the script may reach: only public ones by default, as on the platform. */
  readonly network?: readonly string[]
}

export interface Workerd extends AsyncDisposable {
  readonly url: string
  /** Settles when the process has ended, with its exit code. */
  readonly ended: Promise<number | null>
  /** Milliseconds of processor time that the process has used. Linux alone tells that. */
  processorTime(): number
  /** Bytes of memory that the process has now. Linux alone tells that. */
  memory(): number
  /** Ends the process without any grace. */
  kill(): Promise<void>
}

/** Milliseconds that open requests have at the end. What was replied is durable in any case. */
const grace = 2_000

/** Where the program is; the package has no types. */
const require = createRequire(import.meta.url)
const { default: program } = require('workerd') as { default: string }

const freeLoopbackPort = '127.0.0.1:0'

const text = (value: string): string => JSON.stringify(value)
const list = (items: readonly string[]): string => `[${items.join(', ')}]`

/** A Cap'n Proto text: the script, its bindings, its disk and its network. */
const describeConfig = (options: WorkerdOptions, files: readonly string[]): string => {
  const { durableObjects = {}, entrypoints = {}, variables = {}, network = ['public'], removedHeaders = [] } = options
  const removed = removedHeaders.map(name => `(name = ${text(name)})`)
  const bindings = [
    ...Object.entries(durableObjects).map(
      ([name, className]) => `(name = ${text(name)}, durableObjectNamespace = ${text(className)})`,
    ),
    ...Object.entries(entrypoints).map(
      ([name, entrypoint]) => `(name = ${text(name)}, service = (name = "script", entrypoint = ${text(entrypoint)}))`,
    ),
    ...Object.keys(variables).map(name => `(name = ${text(name)}, fromEnvironment = ${text(name)})`),
  ]
  const namespaces = Object.values(durableObjects).map(
    name => `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`,
  )
  const services = [
    `(name = "script", worker = .script)`,
    `(name = "internet", network = (allow = ${list(network.map(text))}, tlsOptions = (trustBrowserCas = true)))`,
    ...(options.folder === undefined
      ? []
      : [`(name = "disk", disk = (path = ${text(resolve(options.folder))}, writable = true))`]),
  ]
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = ${list(services)},
  sockets = [(name = "http", address = ${text(options.address ?? freeLoopbackPort)}, http = (injectRequestHeaders = ${list(removed)}), service = "script")],
);
const script :Workerd.Worker = (
  modules = ${list(files.map(name => `(name = ${text(name)}, ${name.endsWith('.json') ? 'text' : 'esModule'} = embed ${text(name)})`))},
  compatibilityDate = ${text(options.compatibilityDate)},
  compatibilityFlags = ${list(options.compatibilityFlags.map(text))},
  bindings = ${list(bindings)},
  durableObjectNamespaces = ${list(namespaces)},
  durableObjectStorage = ${options.folder === undefined ? '(inMemory = void)' : '(localDisk = "disk")'},
);
`
}

/** Linux counts processor time in hundredths of a second: the 14th and the 15th field of the process. */
const readProcessorTime = (pid: number): number => {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

/** Linux counts resident memory in pages, of 4 KB on the platforms of workerd: the second field. */
const readMemory = (pid: number): number => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4_096

/** Serves a script with workerd, the runtime of the platform. Throws when it ends before it listens. */
export const startWorkerd = async (options: WorkerdOptions): Promise<Workerd> => {
  const folder = mkdtempSync(join(tmpdir(), 'vmhost-edge-'))
  const source = dirname(resolve(options.script))
  const main = basename(options.script)
  // The first module is the script.
  const files = [main, ...globSync('*.{mjs,json}', { cwd: source }).filter(name => name !== main)]
  for (const name of files) copyFileSync(join(source, name), join(folder, name))
  writeFileSync(join(folder, 'config.capnp'), describeConfig(options, files))
  if (options.folder !== undefined) mkdirSync(options.folder, { recursive: true, mode: 0o700 })
  // On descriptor 3 it tells which port it has found.
  const child = spawn(program, ['serve', '--control-fd=3', join(folder, 'config.capnp')], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, ...options.variables },
  })
  const ended = new Promise<number | null>(settle => child.once('exit', settle))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  const end = async (): Promise<void> => {
    child.kill('SIGTERM')
    // It waits for open connections, and WebSockets and streams stay open.
    const timer = setTimeout(() => child.kill('SIGKILL'), grace)
    await ended
    clearTimeout(timer)
  }
  try {
    const port = await new Promise<number>((settle, reject) => {
      // What workerd writes: one line of JSON for each socket.
      createInterface(child.stdio[3] as Readable).on('line', line =>
        settle((JSON.parse(line) as { port: number }).port),
      )
      child.once('error', reject)
      child.once('exit', code => reject(new Error(`workerd ended with ${code}`)))
    })
    return {
      url: `http://${(options.address ?? freeLoopbackPort).replace(/:\d+$/, '')}:${port}`,
      ended,
      processorTime: () => readProcessorTime(child.pid!),
      memory: () => readMemory(child.pid!),
      kill,
      [Symbol.asyncDispose]: end,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
