import { connect as connectSocket, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { ServiceError } from '#lib/errors.ts'

/** Something that QEMU tells of its own accord. */
export interface QmpEvent {
  readonly event: string
  readonly data?: Readonly<Record<string, unknown>>
}

/** A connection to the control socket of one QEMU (QEMU Machine Protocol). */
export interface Qmp {
  /** Runs a command. Throws `upstream` with QEMU's words, also when the connection ends or no answer comes. */
  execute(command: string, args?: object): Promise<unknown>
  /** Settles when the connection has ended. */
  readonly closed: Promise<void>
  close(): void
}

interface Message {
  readonly QMP?: object
  readonly return?: unknown
  readonly error?: { readonly desc: string }
  readonly id?: number
  readonly event?: string
  readonly data?: Record<string, unknown>
}

const answerTime = 10_000
/** A socket serves one client at a time: a second one is accepted by the kernel and then never greeted. */
const greetingTime = 2_000

const connected = (path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connectSocket(path)
    socket.once('connect', () => resolve(socket))
    socket.once('error', reject)
  })

/** Connects to the socket at `path` and makes it ready for commands. `heard` is told of every event from then on. */
export const connectQmp = async (path: string, heard: (event: QmpEvent) => void): Promise<Qmp> => {
  const socket = await connected(path)
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  const greeting = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  let last = 0

  const fail = (why: string): ServiceError => new ServiceError('upstream', `QEMU ${why}.`)
  socket.on('error', () => {})
  socket.once('close', () => {
    const error = fail('closed its control connection')
    greeting.reject(error)
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
    closed.resolve()
  })
  const lines = createInterface({ input: socket })
  // Passed on from the socket, which `close` has told of already; unheard it would end the service.
  lines.on('error', () => {})
  lines.on('line', line => {
    const message = JSON.parse(line) as Message
    if (message.QMP) greeting.resolve()
    if (message.event) heard({ event: message.event, ...(message.data && { data: message.data }) })
    if (message.id === undefined) return
    const pending = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.error) pending?.reject(fail(`refused: ${message.error.desc}`))
    else pending?.resolve(message.return)
  })

  const execute = async (command: string, args?: object): Promise<unknown> => {
    if (socket.destroyed) throw fail('closed its control connection')
    const id = (last += 1)
    const pending = Promise.withResolvers<unknown>()
    waiting.set(id, pending)
    const timer = setTimeout(() => {
      waiting.delete(id)
      pending.reject(fail(`did not answer ${command} within ${answerTime / 1000} seconds`))
    }, answerTime)
    socket.write(`${JSON.stringify({ execute: command, ...(args && { arguments: args }), id })}\n`)
    try {
      return await pending.promise
    } finally {
      clearTimeout(timer)
    }
  }

  const timer = setTimeout(() => greeting.reject(fail('did not greet on its control connection')), greetingTime)
  try {
    await greeting.promise
    await execute('qmp_capabilities')
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
  return { execute, closed: closed.promise, close: () => socket.destroy() }
}
