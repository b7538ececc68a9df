import { ServiceError } from '#lib/errors.ts'
import { abortable, abortableAfterGrace } from '#lib/async/abortable.ts'
import type { WaitLimit } from '#lib/async/progress.ts'
import type { TransientState } from './states.ts'
import { createWaiter, type Waiter } from './waiter.ts'

/** An operation under way. `key` says exactly what it does: a second call with the same key joins it. */
interface Operation {
  /** Of the machine. */
  readonly name: string
  readonly key: string
  readonly shared: boolean
  shown: TransientState
  readonly result: Promise<void>
  readonly cancel: (reason: ServiceError) => void
  /** Gives way to an operation that acts on the machine as this one leaves it. */
  readonly giveWay: (reason: ServiceError) => void
  readonly said: string | undefined
}

/** What the work knows of its operation. */
export interface UnderWay {
  /** Says what the machine is shown as from then on. */
  show(as: TransientState): void
  /** Whether another operation waits for this one to end: any stable state will do for that. */
  isTakenOver(): boolean
}

/** What an operation is on the machine as it is when its turn comes. */
export interface Mode {
  readonly shown: TransientState
  /** It only reads, so that others that only read may run beside it. */
  readonly shared: boolean
  /** Milliseconds until the work is told to give up. */
  readonly limit: number
}

interface Request {
  /** The machine. */
  readonly id: string
  /** Its name, for messages. */
  readonly name: string
  /** What they say that it is, where that is not what it is shown as. */
  readonly said?: string | undefined
  readonly key: string
  /**
   * Judges the machine, which is in a stable state then: undefined when there is nothing to do. Throws what the operation is
   * refused with. `takingOver`: the machine is still on its way to the state that this operation will find.
   */
  readonly enter: (takingOver: boolean) => Mode | undefined
  /** Ends the running operations first, instead of being refused because of them. */
  readonly takesOver?: boolean
  /** Aborted when who asked for it does not want it any more; of a call that joins, only its waiting ends. */
  readonly signal?: AbortSignal | undefined
  /** Waits for its turn; without it a busy machine is a conflict at once. */
  readonly patience?: WaitLimit | undefined
  readonly work: (deadline: AbortSignal, operation: UnderWay) => Promise<void>
}

export interface Operations {
  /**
   * Does the work as an operation of the machine, or joins the same one. While another excludes it, it waits its turn behind
   * those that came before. Throws `conflict` when its patience ends first, what `enter` throws, and what the work throws.
   */
  run(request: Request): Promise<void>
  /** What a machine with an operation under way is shown as. */
  shown(id: string): TransientState | undefined
  /**
   * Tells every operation to give up and refuses new ones; settles when none is under way. Throws `timeout` at the deadline,
   * naming the machines that are busy still.
   */
  close(deadline?: AbortSignal): Promise<void>
}

/** The operations of one machine: one, or several that only read; the waiting ones in the order in which they came. */
interface Line {
  readonly running: Set<Operation>
  readonly waiting: Waiter<Request>[]
}

const shuttingDown = (): ServiceError =>
  new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')

const busy = ({ running }: Line, { name }: Request): ServiceError => {
  const [current] = running
  return new ServiceError(
    'conflict',
    `${name} is ${current?.said ?? current?.shown}; wait until that is done, then try again.`,
  )
}

/** The operations of all machines, in memory. `changed` is told when one begins and when it ends. */
export const createOperations = (changed: (id: string) => void): Operations => {
  const lines = new Map<string, Line>()
  let closed = false

  const begin = (
    line: Line,
    { id, name, said, key, signal, work }: Request,
    { shown, shared, limit }: Mode,
    before: readonly Operation[] = [],
  ): Promise<void> => {
    const controller = new AbortController()
    const timer = setTimeout(() => {
      const after = limit < 10_000 ? `${limit} ms` : `${Math.round(limit / 1000)} seconds`
      controller.abort(
        new ServiceError('timeout', `${name} was still ${said ?? shown} after ${after}, so that was given up.`),
      )
    }, limit)
    const cancel = (): void => controller.abort(signal?.reason)
    let takenOver = false
    const underWay: UnderWay = {
      show(as) {
        operation.shown = as
        changed(id)
      },
      isTakenOver: () => takenOver,
    }
    signal?.addEventListener('abort', cancel)
    const perform = async (): Promise<void> => {
      try {
        // What was taken over ends in a stable state first; how it ended is its own callers' business. What hangs is not waited
        // for: the driver ends it together with the machine.
        if (before.length > 0)
          await abortableAfterGrace(AbortSignal.abort(), Promise.allSettled(before.map(one => one.result))).catch(
            () => {},
          )
        controller.signal.throwIfAborted()
        await work(controller.signal, underWay)
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        line.running.delete(operation)
        changed(id)
        advance(id, line)
      }
    }
    // The place is taken before any of the work runs, so that nothing can come in between.
    const { promise, resolve } = Promise.withResolvers<void>()
    const operation: Operation = {
      name,
      key,
      shared,
      shown,
      result: promise,
      cancel: reason => controller.abort(reason),
      giveWay(reason) {
        takenOver = true
        controller.abort(reason)
      },
      said,
    }
    line.running.add(operation)
    lines.set(id, line)
    changed(id)
    resolve(perform())
    return promise
  }

  /** Joins or begins, where what is under way lets that happen; undefined where it does not. */
  const attempt = (line: Line, request: Request): Promise<void> | undefined => {
    const running = [...line.running]
    const same = running.find(({ key }) => key === request.key)
    if (same) return abortable(same.result, request.signal)
    if (running.some(({ shared }) => !shared)) return undefined
    try {
      const mode = request.enter(false)
      if (!mode) return Promise.resolve()
      return running.length === 0 || mode.shared ? begin(line, request, mode) : undefined
    } catch (error) {
      return Promise.reject(error)
    }
  }

  const takeOver = (line: Line, request: Request): Promise<void> => {
    const before = [...line.running]
    line.running.clear()
    for (const one of before)
      one.giveWay(new ServiceError('conflict', `${request.name} was stopped by force before that was done.`))
    return begin(line, request, request.enter(true)!, before)
  }

  /** Lets those begin whose turn has come. */
  const advance = (id: string, line: Line): void => {
    if (closed) return
    for (let [next] = line.waiting; next; [next] = line.waiting) {
      const begun = attempt(line, next.request)
      if (!begun) return
      line.waiting.shift()
      next.go(begun)
    }
    if (line.running.size === 0) lines.delete(id)
  }

  const wait = (line: Line, request: Request, patience: WaitLimit): Promise<void> => {
    const waiter = createWaiter(request, patience, {
      late: () => busy(line, request),
      left() {
        line.waiting.splice(line.waiting.indexOf(waiter), 1)
        // It may have been the one that the next had to wait for.
        advance(request.id, line)
      },
    })
    line.waiting.push(waiter)
    return waiter.turn
  }

  return {
    async run(request) {
      const { id, key, takesOver = false, patience, signal } = request
      if (closed) throw shuttingDown()
      signal?.throwIfAborted()
      const line = lines.get(id) ?? { running: new Set(), waiting: [] }
      const joins = [...line.running].some(one => one.key === key)
      if (takesOver && line.running.size > 0 && !joins) return takeOver(line, request)
      // Behind others even the same as what is under way comes after what they do.
      const begun = takesOver || line.waiting.length === 0 ? attempt(line, request) : undefined
      if (begun) return begun
      if (!patience || patience.milliseconds <= 0) throw busy(line, request)
      return wait(line, request, patience)
    },
    shown(id) {
      const [current] = lines.get(id)?.running ?? []
      return current?.shown
    },
    async close(deadline) {
      closed = true
      const pending = [...lines.values()].flatMap(({ running }) => [...running])
      for (const { waiting } of lines.values()) for (const waiter of [...waiting]) waiter.refuse(shuttingDown())
      for (const operation of pending) operation.cancel(shuttingDown())
      const ended = Promise.allSettled(pending.map(operation => operation.result))
      await abortable(ended, deadline).catch(() => {
        const left = [...lines.values()].flatMap(({ running }) => [...running])
        const names = left.map(({ name, said: what, shown }) => `${name} is ${what ?? shown}`)
        throw new ServiceError('timeout', `An operation did not end when it was told to: ${names.join(', ')}.`)
      })
    },
  }
}
