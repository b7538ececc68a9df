import { spawn } from 'node:child_process'
import { type FileHandle, open } from 'node:fs/promises'
import { type Duplex, duplexPair } from 'node:stream'
import { text } from 'node:stream/consumers'

/** What a fake agent does wrong, once for each entry: it is asked with the name of each command. */
export interface FakeAgentFaults {
  /** Bytes to send in place of the reply; the text `hang` for none. */
  reply?: (command: string) => string | Buffer | undefined
}

/** A guest agent whose guest is this computer: it runs real programs and opens real files. */
export interface FakeAgent {
  /** The host's end of the connection. */
  readonly stream: Duplex
  /** The names of the commands so far. */
  readonly commands: string[]
  /** The arguments of the last command with this name. */
  argumentsOf(command: string): Record<string, unknown>
  faults: FakeAgentFaults
  system: string
  interfaces: object[]
  /** The files of this computer that take the place of files of the guest, by the paths in the guest. */
  readonly files: Map<string, string>
  /** Commands that the agent has switched off. */
  disabled: Set<string>
  /** Sends bytes to the host without being asked. */
  send(bytes: string | Buffer): void
}

interface Program {
  exit?: { readonly exitcode?: number; readonly signal?: number }
  out?: string
  err?: string
}

type Arguments = Record<string, never> & {
  id: number
  pid: number
  path: string
  mode: string
  arg: string[]
  env?: string[]
  'input-data'?: string
  handle: number
  count: number
  'buf-b64': string
  offset: number
  whence: 'set' | 'end'
}

const signals: Readonly<Record<string, number>> = { SIGTERM: 15, SIGKILL: 9, SIGHUP: 1, SIGINT: 2 }

/** Starts a fake agent. It speaks the protocol of the QEMU guest agent 7.2. */
export const startFakeAgent = (): FakeAgent => {
  const [stream, own] = duplexPair()
  const programs = new Map<number, Program>()
  const files = new Map<number, { file: FileHandle; position: number }>()
  const last = new Map<string, Record<string, unknown>>()
  let lastHandle = 1000

  const run = ({ path, arg, env, 'input-data': input }: Arguments): object => {
    const environment = env && Object.fromEntries(env.map(one => one.split(/=(.*)/s, 2) as [string, string]))
    const args = (arg ?? []).map(one => fake.files.get(one) ?? one)
    const child = spawn(path, args, { cwd: '/', ...(environment && { env: environment }) })
    if (child.pid === undefined) {
      child.on('error', () => {})
      throw new Error(`Guest agent command failed, error was 'Failed to execute child process “${path}”'`)
    }
    const program: Program = {}
    programs.set(child.pid, program)
    child.stdin.on('error', () => {})
    child.stdin.end(Buffer.from(input ?? '', 'base64'))
    const encode = async (output: NodeJS.ReadableStream) =>
      Buffer.from(await text(output as never), 'utf8').toString('base64')
    const exited = new Promise<Program['exit']>(resolve =>
      child.on('exit', (code, signal) => resolve(signal ? { signal: signals[signal]! } : { exitcode: code ?? 0 })),
    )
    void Promise.all([encode(child.stdout), encode(child.stderr), exited]).then(([out, err, exit]) => {
      Object.assign(program, { out, err, exit })
    })
    return { pid: child.pid }
  }
  const readStatus = ({ pid }: Arguments): object => {
    const program = programs.get(pid)
    if (!program) throw new Error(`Invalid parameter 'pid'`)
    const { exit, out, err } = program
    return exit
      ? { exited: true, ...exit, ...(out && { 'out-data': out }), ...(err && { 'err-data': err }) }
      : { exited: false }
  }
  const fileOf = ({ handle }: Arguments) => {
    const found = files.get(handle)
    if (!found) throw new Error(`handle '${handle}' has not been found`)
    return found
  }
  const commands: Record<string, (args: Arguments) => unknown> = {
    'guest-info': () => ({ version: '7.2.0', supported_commands: [] }),
    'guest-ping': () => ({}),
    'guest-get-osinfo': () => ({ id: fake.system, 'pretty-name': `The ${fake.system} system` }),
    'guest-network-get-interfaces': () => fake.interfaces,
    'guest-exec': run,
    'guest-exec-status': readStatus,
    async 'guest-file-open'({ path, mode }) {
      const file = await open(fake.files.get(path) ?? path, mode.replace('b', '')).catch((error: Error) => {
        throw new Error(`failed to open file '${path}' (mode: '${mode}'): ${error.message}`)
      })
      files.set((lastHandle += 1), { file, position: 0 })
      return lastHandle
    },
    async 'guest-file-read'(args) {
      const found = fileOf(args)
      const { bytesRead, buffer } = await found.file.read(Buffer.alloc(args.count), 0, args.count, found.position)
      found.position += bytesRead
      return {
        count: bytesRead,
        'buf-b64': buffer.subarray(0, bytesRead).toString('base64'),
        eof: bytesRead < args.count,
      }
    },
    async 'guest-file-write'(args) {
      const found = fileOf(args)
      const bytes = Buffer.from(args['buf-b64'], 'base64')
      await found.file.write(bytes, 0, bytes.length, found.position)
      found.position += bytes.length
      return { count: bytes.length, eof: false }
    },
    async 'guest-file-seek'(args) {
      const found = fileOf(args)
      found.position = args.offset + (args.whence === 'end' ? (await found.file.stat()).size : 0)
      return { position: found.position, eof: false }
    },
    'guest-file-flush': () => ({}),
    async 'guest-file-close'(args) {
      await fileOf(args).file.close()
      files.delete(args.handle)
      return {}
    },
    'guest-fsfreeze-freeze': () => 1,
    'guest-fsfreeze-thaw': () => 1,
    'guest-set-time': () => ({}),
  }

  const answer = async (line: string): Promise<void> => {
    const { execute, arguments: args = {} } = JSON.parse(line) as { execute: string; arguments?: object }
    fake.commands.push(execute)
    last.set(execute, args as Record<string, unknown>)
    const wrong = fake.faults.reply?.(execute)
    if (wrong === 'hang') return
    if (wrong !== undefined) return void own.write(wrong)
    if (execute === 'guest-sync-delimited')
      return void own.write(
        Buffer.concat([Buffer.from([0xff]), Buffer.from(`{"return": ${(args as Arguments).id}}\n`)]),
      )
    const handle = commands[execute]
    const reply =
      handle && !fake.disabled.has(execute)
        ? await Promise.resolve()
            .then(() => handle(args as Arguments))
            .then(
              value => ({ return: value }),
              (error: Error) => ({ error: { class: 'GenericError', desc: error.message } }),
            )
        : {
            error: handle
              ? { class: 'GenericError', desc: `Command ${execute} has been disabled for this instance` }
              : { class: 'CommandNotFound', desc: `The command ${execute} has not been found` },
          }
    own.write(`${JSON.stringify(reply)}\n`)
  }
  let received = ''
  let previous = Promise.resolve()
  own.setEncoding('latin1')
  own.on('data', (chunk: string) => {
    received += chunk
    for (let end = received.indexOf('\n'); end >= 0; end = received.indexOf('\n')) {
      const line = received.slice(received.lastIndexOf('\u00ff', end) + 1, end)
      received = received.slice(end + 1)
      previous = previous.then(() => answer(Buffer.from(line, 'latin1').toString('utf8')))
    }
  })
  own.on('error', () => {})

  const fake: FakeAgent = {
    stream,
    commands: [],
    argumentsOf: command => last.get(command) ?? {},
    faults: {},
    system: 'debian',
    interfaces: [
      { name: 'lo', 'ip-addresses': [{ 'ip-address': '127.0.0.1', 'ip-address-type': 'ipv4', prefix: 8 }] },
      {
        name: 'eth0',
        'ip-addresses': [
          { 'ip-address': 'fe80::1', 'ip-address-type': 'ipv6', prefix: 64 },
          { 'ip-address': '2001:db8::7', 'ip-address-type': 'ipv6', prefix: 64 },
          { 'ip-address': '192.0.2.7', 'ip-address-type': 'ipv4', prefix: 24 },
        ],
      },
    ],
    files: new Map(),
    disabled: new Set(),
    send: bytes => void own.write(bytes),
  }
  return fake
}
