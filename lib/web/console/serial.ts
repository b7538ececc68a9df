import { backOff, pause, throwUnlessPassing } from '#lib/client/retry.ts'
import { messageOf } from '../parts/text.ts'
import { client } from '../state/service.ts'
import { createStore, type Store } from '../state/store.ts'

/** How a console is connected. */
export interface SerialState {
  readonly connection: 'connecting' | 'live' | 'offline'
  /** Whether what is typed goes to the guest. */
  readonly isWriter: boolean
  /** What the service has said last: who writes now, or why input was not taken. */
  readonly note: string | undefined
}

/** A text message of the service. */
interface ServiceMessage {
  readonly offset?: number
  readonly writer?: boolean
  readonly taken_over_by?: string
  readonly gap?: { readonly offset: number; readonly length: number }
  readonly error?: string
}

/** The serial console of one machine. */
export interface SerialConsole {
  readonly state: Store<SerialState>
  /** Sends input to the guest. Without the right to write it does nothing. */
  send(text: string): void
  /** Connects again as the one who writes, in place of who writes now. */
  takeOver(): void
  close(): void
}

/** The bytes of earlier output that are shown first. */
const replayed = 65_536
/** The most characters of one message: at most 3 bytes each, of the 1 MiB that the service takes. */
const longestInput = 65_536

/** The path with which a console goes on at an offset. A ticket is for exactly this text. */
const formatPath = (id: string, offset: number, writer: string | undefined): string =>
  `/v1/machines/${encodeURIComponent(id)}/console?${new URLSearchParams({ offset: String(offset), ...(writer && { writer }) })}`

/**
 * Opens the serial console of a machine: the last 64 KB, then what comes. After a lost connection it goes on at its offset, so nothing
 * is missed and nothing comes twice.
 */
export const openSerial = (id: string, onBytes: (bytes: Uint8Array) => void): SerialConsole => {
  const state = createStore<SerialState>({ connection: 'connecting', isWriter: false, note: undefined })
  const update = (change: Partial<SerialState>): void => state.set({ ...state.get(), ...change })
  const ended = new AbortController()
  let offset = -replayed
  let writer: 'claim' | 'take-over' | undefined = 'claim'
  let socket: WebSocket | undefined

  const onMessage = ({ data }: MessageEvent<string | ArrayBuffer>): void => {
    if (typeof data !== 'string') {
      offset += data.byteLength
      return onBytes(new Uint8Array(data))
    }
    // What the service writes.
    const message = JSON.parse(data) as ServiceMessage
    if (message.offset !== undefined) offset = message.offset
    if (message.gap) offset = message.gap.offset + message.gap.length
    if (message.writer !== undefined) update({ isWriter: message.writer })
    if (message.taken_over_by !== undefined) {
      writer = undefined
      update({ note: `${message.taken_over_by} writes now. You still read.` })
    }
    if (message.error !== undefined) update({ note: message.error })
  }
  /** Reads one connection to its end. Tells whether it was opened at all. */
  const readConnection = async (): Promise<boolean> => {
    const path = formatPath(id, offset, writer)
    const { ticket } = await client.api.auth.createTicket({ body: { path } })
    if (ended.signal.aborted) return false
    const opened = new WebSocket(
      `${location.origin.replace(/^http/, 'ws')}/api${path}&ticket=${encodeURIComponent(ticket)}`,
    )
    opened.binaryType = 'arraybuffer'
    socket = opened
    let wasOpened = false
    opened.addEventListener('open', () => {
      wasOpened = true
      update({ connection: 'live' })
    })
    opened.addEventListener('message', onMessage)
    await new Promise(resolve => opened.addEventListener('close', resolve))
    return wasOpened
  }
  const run = async (): Promise<void> => {
    for (let failures = 0; !ended.signal.aborted; failures++) {
      let wasOpened = false
      try {
        wasOpened = await readConnection()
      } catch (error) {
        throwUnlessPassing(error, ended.signal)
      }
      if (ended.signal.aborted) return
      update({ connection: 'offline', isWriter: false })
      // Somebody else may write. A browser is not told why a WebSocket was refused, so the next one only reads.
      if (!wasOpened && writer) {
        writer = undefined
        update({ note: 'Another connection writes. You read.' })
      }
      if (wasOpened) failures = 0
      await pause(backOff(failures), ended.signal)
    }
  }
  run().catch(error => {
    if (!ended.signal.aborted) update({ connection: 'offline', isWriter: false, note: messageOf(error) })
  })
  return {
    state,
    send(text) {
      if (!state.get().isWriter || socket?.readyState !== WebSocket.OPEN) return
      for (let at = 0; at < text.length; at += longestInput)
        socket.send(new TextEncoder().encode(text.slice(at, at + longestInput)))
    },
    takeOver() {
      writer = 'take-over'
      update({ note: undefined })
      socket?.close()
    },
    close() {
      ended.abort()
      socket?.close()
    },
  }
}
