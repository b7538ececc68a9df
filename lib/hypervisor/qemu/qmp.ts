import { connect as connectSocket, type Socket } from 'node:net'
import * as z from 'zod'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { createLineReader } from './line-reader.ts'

/** An asynchronous event of QEMU. */
export interface QmpEvent {
  readonly event: string
  readonly data?: unknown
}

/** A connection to the control socket of one QEMU (QEMU Machine Protocol). */
export interface Qmp {
  /**
   * Runs a command and returns QEMU's result. Throws `upstream` with QEMU's error or with why the connection has ended, and
   * `timeout` if no reply comes.
   */
  execute(command: string, args?: object): Promise<unknown>
  /** Runs a command without arguments and validates its result; an invalid one ends the connection. Throws as `execute`. */
  query<T>(command: string, answer: z.ZodType<T>, timeout?: number): Promise<T>
  /** Resolves to the reason when the connection has ended. */
  readonly closed: Promise<ServiceError>
  close(): void
}

/** An error text of QEMU, limited in length: a compromised QEMU may send anything. */
const ErrorText = z.string().transform(text => text.slice(0, 500))

/** The messages of QEMU that are used, one per line. */
const Message = z.union([
  z.object({ QMP: z.looseObject({}) }),
  z.object({ error: z.object({ desc: ErrorText }), id: z.number().optional() }),
  z.object({ event: z.string(), data: z.unknown().optional() }),
  z.object({ return: z.unknown(), id: z.number() }),
])
type Message = z.infer<typeof Message>

const answerTimeout = 10_000
/** QEMU greets one client per socket. The kernel accepts a second client, which never gets a greeting. */
const greetingTimeout = 2_000
/** Characters of a line. The longest expected reply has a few hundred. */
const maxLineLength = 2 ** 20
/** Characters per second; each message counts as `costOfMessage` more. QEMU normally sends some dozen messages. */
const maxCostPerSecond = 2 ** 21
const costOfMessage = 1_024

const openSocket = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connectSocket(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })

const createFault = (why: string): ServiceError => new ServiceError('upstream', `QEMU ${why}.`)

const parseMessage = (line: string): Message => {
  try {
    return Message.parse(JSON.parse(line))
  } catch {
    throw new Error('a line that is no message of its protocol')
  }
}

/**
 * Connects to the socket at `path` and negotiates the protocol. From then on `onEvent` receives every event. Any violation of the
 * protocol ends the connection. Throws `upstream`.
 */
export const connectQmp = async (path: string, onEvent: (event: QmpEvent) => void): Promise<Qmp> => {
  const socket = await openSocket(path)
  const pendingCommands = new Map<number, PromiseWithResolvers<unknown>>()
  const greeting = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<ServiceError>()
  let reason = createFault('closed its control connection')
  let lastId = 0

  const end = (why: ServiceError): void => {
    if (!socket.destroyed) reason = why
    socket.destroy()
  }
  const onMessage = (message: Message): void => {
    if ('QMP' in message) greeting.resolve()
    else if ('event' in message) onEvent(message)
    else if (message.id !== undefined) {
      const pending = pendingCommands.get(message.id)
      pendingCommands.delete(message.id)
      if ('error' in message) pending?.reject(createFault(`refused: ${message.error.desc}`))
      else pending?.resolve(message.return)
    }
  }
  let window = { begun: -Infinity, cost: 0 }
  /** Throws if QEMU sends too much: an endless sender would keep the service busy. */
  const checkRate = (line: string): void => {
    const now = performance.now()
    if (now - window.begun > 1_000) window = { begun: now, cost: 0 }
    window.cost += costOfMessage + line.length
    if (window.cost > maxCostPerSecond) throw new Error('more messages in a second than it has reason to')
  }
  const lines = createLineReader(maxLineLength, line => {
    if (socket.destroyed) return
    checkRate(line)
    onMessage(parseMessage(line))
  })
  socket.setEncoding('utf8')
  socket.on('data', (text: string) => {
    try {
      lines.push(text)
    } catch (error) {
      end(createFault(`sent ${messageOf(error)}, so its control connection was closed`))
    }
  })
  socket.once('end', () => {
    if (lines.remainder() !== '') end(createFault('closed its control connection in the middle of a message'))
  })
  socket.on('error', () => {})
  socket.once('close', () => {
    greeting.reject(reason)
    for (const { reject } of pendingCommands.values()) reject(reason)
    pendingCommands.clear()
    closed.resolve(reason)
  })

  const send = async (command: string, args?: object, timeout = answerTimeout): Promise<unknown> => {
    if (socket.destroyed) throw reason
    const id = (lastId += 1)
    const pending = Promise.withResolvers<unknown>()
    pendingCommands.set(id, pending)
    const timer = setTimeout(() => {
      pendingCommands.delete(id)
      pending.reject(new ServiceError('timeout', `QEMU did not answer ${command} within ${timeout / 1000} seconds.`))
    }, timeout)
    socket.write(`${JSON.stringify({ execute: command, ...(args && { arguments: args }), id })}\n`)
    try {
      return await pending.promise
    } finally {
      clearTimeout(timer)
    }
  }

  const timer = setTimeout(
    () => greeting.reject(createFault('did not greet on its control connection')),
    greetingTimeout,
  )
  try {
    await greeting.promise
    await send('qmp_capabilities')
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
  return {
    execute: (command, args) => send(command, args),
    async query(command, answer, timeout) {
      const { data, success } = answer.safeParse(await send(command, undefined, timeout))
      if (success) return data
      end(
        createFault(
          `gave an answer to ${command} that is no message of its protocol, so its control connection was closed`,
        ),
      )
      throw reason
    },
    closed: closed.promise,
    close: () => end(createFault('was let go of')),
  }
}
