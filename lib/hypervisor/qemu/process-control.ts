import { setTimeout as wait } from 'node:timers/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { waitForExit, isQemuOf, findLivingPid } from './pid.ts'
import { reattach, type LaunchContext, type RunningQemu } from './process.ts'
import type { Qmp, QmpEvent } from './qmp.ts'

/** Controls the QEMU process of one machine over at most one control connection, which it opens again after a disconnect. */
export interface ProcessControl {
  /** The event handler to start a QEMU with that is passed to `attach`. */
  readonly onEvent: (event: QmpEvent) => void
  /** Calls `listener` with every event of QEMU until disposed. */
  subscribe(listener: (event: QmpEvent) => void): Disposable
  /** Takes over a connected QEMU, newly started or found running. */
  attach(found: RunningQemu): RunningQemu
  /** The connected QEMU. */
  current(): RunningQemu | undefined
  /** Returns the connected QEMU; connects if necessary. Throws `unavailable` if that fails. */
  connect(): Promise<RunningQemu>
  /** Closes the connection. QEMU keeps running. */
  disconnect(): void
  /** Asks QEMU to quit, and kills it if it does not. */
  quit(): Promise<void>
  /** Resolves to true if QEMU has exited or exits within `timeout` milliseconds. */
  isGone(timeout: number): Promise<boolean>
}

interface Options {
  readonly context: LaunchContext
  readonly name: () => string
  readonly onEvent: (event: QmpEvent) => void
  readonly onConnect: (qmp: Qmp) => void
  /** Called when the connection ends other than by `disconnect` or `quit`. */
  readonly onDisconnect: () => void
}

/** Milliseconds that QEMU has to exit after `quit`. */
export const quitTimeout = 2_000

export const createProcessControl = (options: Options): ProcessControl => {
  const { context, name, onConnect, onDisconnect } = options
  const { id, home } = context
  const listeners = new Set<(event: QmpEvent) => void>()
  const onEvent = (event: QmpEvent): void => {
    for (const listener of listeners) listener(event)
    options.onEvent(event)
  }
  let running: RunningQemu | undefined
  /** The last known pid. It finds the process even if the machine's folder was moved. */
  let lastPid: number | undefined
  /** Why the last connection ended, if the service did not end it. */
  let disconnectReason: ServiceError | undefined

  const findPid = async (): Promise<number | undefined> =>
    lastPid !== undefined && (await isQemuOf(id, lastPid)) ? lastPid : findLivingPid(home, id)

  const attach = (found: RunningQemu): RunningQemu => {
    running = found
    lastPid = found.pid
    disconnectReason = undefined
    onConnect(found.qmp)
    void found.qmp.closed.then(reason => {
      if (running !== found) return
      running = undefined
      disconnectReason = reason
      onDisconnect()
    })
    return found
  }
  const disconnect = (): void => {
    const former = running
    running = undefined
    former?.qmp.close()
  }

  return {
    onEvent,
    subscribe(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    attach,
    disconnect,
    current: () => running,
    async connect() {
      if (running) return running
      const reason = disconnectReason
      disconnectReason = undefined
      try {
        // Thrown once: a QEMU that disconnects again and again is a problem too.
        if (reason) throw reason
        const pid = await findPid()
        if (pid === undefined) throw new Error('there is no process')
        return attach(await reattach(context, pid, onEvent))
      } catch (error) {
        throw new ServiceError(
          'unavailable',
          `The QEMU of ${name()} does not answer: ${messageOf(error)} Another program may hold its control socket; a forced stop ends it.`,
          { cause: error },
        )
      }
    },
    async quit() {
      const pid = await findPid()
      const quitting = running
      running = undefined
      quitting?.qmp.execute('quit').catch(() => {})
      if (pid !== undefined) await waitForExit(pid, id, quitting ? quitTimeout : 0)
      quitting?.qmp.close()
    },
    async isGone(timeout) {
      for (const end = Date.now() + timeout; (await findPid()) !== undefined; await wait(5))
        if (Date.now() > end) return false
      return true
    },
  }
}
