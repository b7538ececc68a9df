import { messageOf } from '#lib/errors.ts'
import type { NewFork } from '../../fork.ts'
import type { MachineOperation, QemuMachine } from '../machine.ts'
import { hasTap } from '../network/taps.ts'
import type { ForkContext } from './context.ts'
import { type PreparedForks, prepareForks } from './prepare-forks.ts'

/** Milliseconds after its last fork for which a machine has a waiting process. */
const waitingTime = 600_000
/** Machines of a host that have one. */
const maxMachines = 4

/** Processes that wait for the next fork of machines that have forked a short time ago. */
export interface WaitingForks {
  /**
   * Returns forks of a machine whose QEMUs wait, in the order of `forks`, within an operation of the machine. The waiting process is
   * one of them, if there is one and the first fork may have any id. Throws as `prepareForks`.
   */
  take(
    operation: MachineOperation,
    source: QemuMachine,
    forks: readonly Pick<NewFork, 'id'>[],
    deadline: AbortSignal,
  ): Promise<PreparedForks>
  /** Has a process wait for the next fork of a machine that has just forked. It starts in the background. */
  renew(source: QemuMachine): void
  /** Ends the waiting process of a machine. Resolves when nothing of it is left. Never throws. */
  end(id: string): Promise<void>
  /** Ends all of them, and begins no other. */
  close(): Promise<void>
}

interface Waiting {
  readonly source: QemuMachine
  readonly life: AbortController
  readonly timer: NodeJS.Timeout
  /** What waits; undefined until it does. */
  prepared?: PreparedForks | undefined
  /** Settles when the preparation has ended, well or not. */
  done?: Promise<void>
}

export const createWaitingForks = (context: ForkContext): WaitingForks => {
  const { log } = context
  /** By the id of their machine. The machine that has forked last is the last one. */
  const all = new Map<string, Waiting>()
  /** The ends of those that are not in `all` any more. */
  const endings = new Map<string, Promise<unknown>>()
  let isClosed = false

  const remove = (id: string): Waiting | undefined => {
    const waiting = all.get(id)
    if (!waiting) return undefined
    all.delete(id)
    clearTimeout(waiting.timer)
    waiting.life.abort()
    waiting.source.setForkReady(false)
    return waiting
  }
  const dispose = async (waiting: Waiting): Promise<void> => {
    await waiting.done
    await waiting.prepared?.[Symbol.asyncDispose]()
  }
  const end = async (id: string): Promise<void> => {
    const waiting = remove(id)
    if (waiting) {
      const disposing = dispose(waiting).catch(error =>
        log.warning('{id}: its waiting process stays: {error}', { id, error: messageOf(error) }),
      )
      // One that ended before may still be on its way out.
      endings.set(id, Promise.all([endings.get(id), disposing]))
    }
    const ending = endings.get(id)
    await ending
    if (endings.get(id) === ending) endings.delete(id)
  }

  const prepare = async (waiting: Waiting): Promise<void> => {
    const { source, life } = waiting
    const { id, name } = source.view()
    const { signal } = life
    try {
      await source.operate(signal, async operation => {
        await using stack = new AsyncDisposableStack()
        const prepared = stack.use(await prepareForks(operation, source, context, signal))
        await prepared.add([crypto.randomUUID()], signal)
        stack.move()
        waiting.prepared = prepared
        const { qmp } = await operation.control.connect()
        void Promise.race([qmp.closed, prepared.forks[0]!.failed]).then(() => {
          if (all.get(id) === waiting) void end(id)
        })
      })
      if (all.get(id) === waiting) source.setForkReady(true)
    } catch (error) {
      if (!signal.aborted)
        log.warning('{name}: no process waits for its next fork: {error}', { name, error: messageOf(error) })
    }
  }

  return {
    async take(operation, source, forks, deadline) {
      // One that does not wait yet would wait for the end of this operation.
      const found = remove(source.view().id)?.prepared
      await using stack = new AsyncDisposableStack()
      const isCurrent = found !== undefined && forks[0]?.id === undefined && (await found.isCurrent())
      if (found && !isCurrent) await found[Symbol.asyncDispose]()
      const prepared = stack.use(isCurrent ? found : await prepareForks(operation, source, context, deadline))
      const ids = forks.map(({ id }) => id ?? crypto.randomUUID())
      await prepared.add(ids.slice(prepared.forks.length), deadline)
      stack.move()
      return prepared
    },
    renew(source) {
      const { id, definition } = source.view()
      // The host knows the cards of machines only, so a process that waits would lose a card that it has on the host.
      if (isClosed || definition.networks.some(hasTap)) return
      void end(id)
      for (const oldest of all.keys()) if (all.size >= maxMachines) void end(oldest)
      const timer = setTimeout(() => void end(id), waitingTime).unref()
      const waiting: Waiting = { source, life: new AbortController(), timer }
      all.set(id, waiting)
      waiting.done = prepare(waiting)
    },
    end,
    async close() {
      isClosed = true
      await Promise.all([...all.keys(), ...endings.keys()].map(end))
    },
  }
}
