import type { Principal } from '#lib/access/principal.ts'
import type { SessionReferences } from '#lib/access/session-reference.ts'
import { messageOf } from '#lib/errors.ts'
import { createClientMessages, cutReason } from '../client-messages.ts'
import { type Cursor, parseCursor } from '../cursor.ts'
import type { EventType } from '../event.ts'
import type { ClientActivity } from '../gateway.ts'
import type { Hub } from '../hub.ts'
import type { Subscriber } from '../subscribers.ts'
import { parseConfirmation } from './confirmation.ts'
import type { ClientState, HibernatingSocket } from './socket.ts'

/** A WebSocket that reads events, for as long as this object is awake. */
export interface HibernatingClient extends Subscriber, Disposable {
  /** Seconds since 1970 at which the session ends by itself. */
  readonly expiresAt: number | undefined
  /** Sends the first message to a new client. */
  welcome(unknown: readonly string[]): void
  /** Tells the client that events before its cursor were removed unread. */
  sendGap(): void
  /** Sends the events from the client's cursor on. */
  drain(): Promise<void>
  /** Closes the connection when its session has ended. */
  checkSession(): Promise<void>
  receive(text: string): void
  unsubscribe(types: readonly EventType[]): void
  close(code: number, reason: string): void
  activity(): ClientActivity
}

interface Options {
  readonly socket: HibernatingSocket
  readonly state: ClientState
  readonly after: Cursor
  readonly hub: Hub
  readonly sessions: Pick<SessionReferences, 'principal'>
  readonly onSent: (messages: number) => void
  /** Called when the bytes that the client has not confirmed become more or fewer. */
  readonly onUnconfirmedChange: (change: number) => void
}

const batchSize = 64
/** Bytes after which a client gets no more events before it confirms some. Answers may follow, up to as many bytes again. */
const maxUnconfirmedBytes = 1 << 20
/** Milliseconds that a client then has to confirm. */
const confirmationTimeout = 10_000
/** The `readyState` of a WebSocket over which messages can be sent. */
const openState = 1

/** Why a client is closed that reads too slowly, or does not confirm what it reads. */
export const unconfirmedReason = 'Too much of what was sent is not confirmed; connect again with the last cursor.'

/** The principal of a client before its session is looked up. It may see nothing. */
const nobody = { id: '', username: '', email: '', roles: [], claims: new Set<string>(), superUser: false }

/** Lets other work run between two batches. */
const yieldToOtherWork = (): Promise<void> => new Promise(resolve => void setTimeout(resolve, 0))

/**
 * Serves one WebSocket of a Durable Object. What it knows is written back to the socket. Its rights are looked up anew for
 * each batch of events.
 */
export const createHibernatingClient = (options: Options): HibernatingClient => {
  const { socket, hub, sessions, onSent, onUnconfirmedChange } = options
  const { id, userId, address, session, connectedAt } = options.state
  let { cursor, heardAt, unconfirmed, confirmed } = options.state
  const types = new Set<EventType>(options.state.types)
  const messages = createClientMessages(id)
  let principal: Principal | undefined
  let [isDraining, isMoreAvailable, isClosed] = [false, false, false]
  onUnconfirmedChange(unconfirmed)

  const isOpen = (): boolean => !isClosed && socket.readyState === openState
  const save = (): void => {
    if (isOpen())
      socket.serializeAttachment({
        id,
        userId,
        address,
        session,
        connectedAt,
        heardAt,
        types: [...types],
        cursor: subscription.cursor(),
        unconfirmed,
        confirmed,
      } satisfies ClientState)
  }
  const close = (code: number, reason: string): void => {
    if (!isOpen()) return
    isClosed = true
    socket.close(code, cutReason(reason))
  }
  let confirmationTimer: ReturnType<typeof setTimeout> | undefined
  const closeUnconfirmed = (): void => close(1013, unconfirmedReason)
  const countUnconfirmed = (change: number): void => {
    unconfirmed += change
    onUnconfirmedChange(change)
  }
  const send = (text: string): void => {
    if (!isOpen()) return
    socket.send(text)
    countUnconfirmed(text.length)
  }
  const findPrincipal = async (): Promise<Principal | undefined> => {
    try {
      return (principal = await sessions.principal(session))
    } catch (error) {
      close(1008, messageOf(error))
      return undefined
    }
  }

  /** Sends the next events; false when there are none, or the client gets no more. */
  const sendBatch = async (): Promise<boolean> => {
    if (!isOpen() || !(await findPrincipal()) || !isOpen()) return false
    if (unconfirmed > maxUnconfirmedBytes) {
      confirmationTimer ??= setTimeout(closeUnconfirmed, confirmationTimeout)
      return false
    }
    const frames = subscription.next(batchSize)
    if (frames === 'gap') send(messages.gap(subscription.cursor()))
    else for (const { text } of frames) send(text.toString())
    if (frames !== 'gap') onSent(frames.length)
    if (subscription.cursor() !== cursor) {
      cursor = subscription.cursor()
      save()
    }
    return frames.length > 0
  }
  const drain = async (): Promise<void> => {
    isMoreAvailable = true
    if (isDraining) return
    isDraining = true
    try {
      while (isMoreAvailable) {
        isMoreAvailable = false
        while (await sendBatch()) await yieldToOtherWork()
      }
    } finally {
      isDraining = false
    }
  }
  const subscription = hub.subscribe({
    after: options.after,
    types,
    principal: () => principal ?? nobody,
    onAvailable: () => void drain(),
    onBroadcast: ({ text }) => send(text.toString()),
  })

  /** Counts only what was sent after the confirmed event as unconfirmed, as if all events had the same size. */
  const confirm = (seq: number): void => {
    const last = parseCursor(subscription.cursor()).seq
    if (seq <= confirmed || seq > last) return
    countUnconfirmed(-Math.ceil((unconfirmed * (seq - confirmed)) / (last - confirmed)))
    confirmed = seq
    if (unconfirmed > maxUnconfirmedBytes) return
    clearTimeout(confirmationTimer)
    confirmationTimer = undefined
    void drain()
  }

  return {
    id,
    address,
    connectedAt,
    types,
    expiresAt: session.token?.exp,
    get user() {
      return { id: userId, username: principal?.username ?? '' }
    },
    welcome(unknown) {
      save()
      send(messages.welcome(types, subscription.cursor(), unknown))
    },
    sendGap: () => send(messages.gap(subscription.cursor())),
    drain,
    async checkSession() {
      if (isOpen()) await findPrincipal()
    },
    receive(text) {
      heardAt = Date.now()
      const seq = parseConfirmation(text)
      const answer = messages.answer(text)
      if (seq !== undefined) confirm(seq)
      else if (answer !== undefined) send(answer)
      if (unconfirmed > 2 * maxUnconfirmedBytes) closeUnconfirmed()
      save()
    },
    unsubscribe(dropped) {
      for (const type of dropped) types.delete(type)
      save()
    },
    close,
    activity: () => ({ lastPing: 0, lastPong: heardAt, alive: isOpen(), queuedBytes: unconfirmed }),
    [Symbol.dispose]() {
      isClosed = true
      clearTimeout(confirmationTimer)
      subscription[Symbol.dispose]()
      onUnconfirmedChange(-unconfirmed)
      unconfirmed = 0
    },
  }
}
