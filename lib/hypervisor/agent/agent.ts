import { randomInt } from 'node:crypto'
import type { Duplex } from 'node:stream'
import * as z from 'zod'
import { abortable } from '#lib/async/abortable.ts'
import { createTimeLimit } from '#lib/async/time-limit.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { isWithinJsonLimits } from '#lib/json-limits.ts'
import { createFrameReader, type Frame, sentinel } from './frame-reader.ts'

/** A command of the guest agent, and what is known of its reply. */
export interface AgentCommand<T> {
  readonly arguments?: object
  readonly reply: z.ZodType<T>
  /** Milliseconds that the agent has to answer; 10 seconds when left out. */
  readonly timeLimit?: number
  /** The most bytes of each text of the reply; 64 KiB when left out. Longer texts are cut, which is no error. */
  readonly textLimit?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * A connection to the guest agent of one machine (QEMU Guest Agent Protocol: a line of JSON for each command and each reply). It
 * runs one command at a time, in the order of the calls.
 */
export interface Agent {
  /**
   * Runs a command. Throws `unsupported` if the agent does not have it or has it switched off, `upstream` with the error of the
   * agent or if it does not keep to its protocol, `timeout` if it does not answer, and the reason of the signal.
   */
  execute<T>(name: string, command: AgentCommand<T>): Promise<T>
  /** Resolves to the reason when the connection has ended. */
  readonly closed: Promise<ServiceError>
  close(): void
}

const defaultTimeLimit = 10_000
const syncTimeLimit = 5_000
const defaultTextLimit = 64 * 1024
/** The most values of a reply. A list of network interfaces has some hundred. */
const maxValues = 20_000
/** The most bytes that are read for one reply. The agent sends at most 16 MiB of each output of a command, as base64. */
const maxReceived = 64 * 1024 * 1024

const ErrorText = z.string().transform(text => text.slice(0, 500))
const Reply = z.union([
  z.object({ return: z.unknown() }),
  z.object({ error: z.object({ class: ErrorText.optional(), desc: ErrorText }) }),
])
const SyncReply = z.object({ return: z.int() })

/** The error for an agent that has failed. `why` completes the sentence "The guest agent …". */
const createAgentError = (why: string): ServiceError => new ServiceError('upstream', `The guest agent ${why}.`)

const parseJson = (bytes: Buffer): unknown => {
  if (!isWithinJsonLimits(bytes, maxValues)) throw new Error('a message with too many values')
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    // The parser's message would quote what the guest has sent.
    throw new Error('a line that is no message of its protocol')
  }
}

/** Makes the error of a command that the agent has refused. */
const createRefusal = (name: string, error: { readonly class?: string | undefined; readonly desc: string }) =>
  error.class === 'CommandNotFound' || /has been disabled/i.test(error.desc)
    ? new ServiceError(
        'unsupported',
        `The guest agent does not run ${name}: ${error.desc}. Its configuration in the guest may have switched it off.`,
      )
    : createAgentError(`refused ${name}: ${error.desc}`)

/**
 * Makes a guest agent of a byte stream to it. Before the first command, and after each one without a proper reply, it sends
 * `guest-sync-delimited`: so a late reply never counts as that of a later command. It reads from the stream only while it waits
 * for a reply, so a guest that sends without being asked fills no memory.
 */
export const connectAgent = (stream: Duplex): Agent => {
  const closed = Promise.withResolvers<ServiceError>()
  let reason = createAgentError('ended the connection')
  let isSynced = false
  let received = 0
  /** Called with each line while a command waits for its reply. Throws if the line is no message of the protocol. */
  let onFrame: ((frame: Frame) => void) | undefined
  /** Fails the command that waits for its reply. */
  let fail: ((error: ServiceError) => void) | undefined
  let previous: Promise<unknown> = Promise.resolve()

  const frames = createFrameReader(frame => onFrame?.(frame))
  stream.on('data', (chunk: Buffer) => {
    try {
      received += chunk.length
      if (received > maxReceived) throw new Error('more than a reply can have')
      frames.push(chunk)
    } catch (error) {
      fail?.(createAgentError(`sent ${messageOf(error)}`))
    }
  })
  stream.pause()
  stream.on('error', () => {})
  stream.once('close', () => {
    fail?.(reason)
    closed.resolve(reason)
  })

  /** Sends a command and waits for a line that `read` makes a value of. `read` returns undefined for lines to ignore. */
  const exchange = async <T>(
    request: Buffer,
    read: (frame: Frame) => { readonly value: T } | undefined,
    signal: AbortSignal,
  ): Promise<T> => {
    const reply = Promise.withResolvers<T>()
    received = 0
    onFrame = frame => {
      const found = read(frame)
      if (!found) return
      onFrame = undefined
      reply.resolve(found.value)
    }
    fail = reply.reject
    try {
      stream.write(request)
      stream.resume()
      return await abortable(reply.promise, signal)
    } finally {
      stream.pause()
      onFrame = fail = undefined
    }
  }
  const encode = (name: string, args: object | undefined): Buffer =>
    Buffer.from(`${JSON.stringify({ execute: name, ...(args && { arguments: args }) })}\n`)

  const sync = async (callerSignal: AbortSignal | undefined): Promise<void> => {
    const id = randomInt(2 ** 31)
    using limit = createTimeLimit(syncTimeLimit, 'The guest agent does not answer.', callerSignal)
    frames.setTextLimit(defaultTextLimit)
    // The sentinel ends what the agent may have received of an earlier command.
    const request = Buffer.concat([Buffer.from([sentinel]), encode('guest-sync-delimited', { id })])
    await exchange(
      request,
      ({ bytes, hasSentinel }) =>
        hasSentinel && SyncReply.safeParse(parseJson(bytes)).data?.return === id ? { value: undefined } : undefined,
      limit.signal,
    )
    isSynced = true
  }

  const run = async <T>(name: string, command: AgentCommand<T>): Promise<T> => {
    const { reply, timeLimit = defaultTimeLimit, textLimit = defaultTextLimit, signal } = command
    signal?.throwIfAborted()
    if (stream.destroyed) throw reason
    if (!isSynced) await sync(signal)
    isSynced = false
    const message = `The guest agent did not answer ${name} within ${timeLimit / 1000} seconds.`
    using limit = createTimeLimit(timeLimit, message, signal)
    frames.setTextLimit(textLimit)
    const answer = await exchange(
      encode(name, command.arguments),
      ({ bytes }) => {
        const { data } = Reply.safeParse(parseJson(bytes))
        if (!data) throw new Error(`a reply to ${name} that is no message of its protocol`)
        return { value: data }
      },
      limit.signal,
    )
    isSynced = true
    if ('error' in answer) throw createRefusal(name, answer.error)
    const { data, success } = reply.safeParse(answer.return)
    if (!success) throw createAgentError(`sent a reply to ${name} that does not have the form of one`)
    return data
  }

  return {
    execute(name, command) {
      const current = previous.then(() => run(name, command))
      previous = current.catch(() => {})
      return abortable(current, command.signal)
    },
    closed: closed.promise,
    close() {
      reason = createAgentError('was disconnected')
      stream.destroy()
    },
  }
}
