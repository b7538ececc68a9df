import { ServiceError } from '#lib/errors.ts'
import type { TransientState } from './states.ts'

/** An operation under way. `key` says exactly what it does: a second call with the same key joins it. */
interface Operation {
  readonly key: string
  shown: TransientState
  readonly result: Promise<unknown>
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

interface Request<T> {
  /** The machine. */
  readonly id: string
  /** Its name, for messages. */
  readonly name: string
  /** What they say that it is, where that is not what it is shown as. */
  readonly said?: string | undefined
  readonly key: string
  readonly shown: TransientState
  /** Milliseconds until the work is told to give up. */
  readonly limit: number
  /** Ends a running operation first, instead of being refused because of it. */
  readonly takesOver?: boolean
  /** Aborted when who asked for it does not want it any more; of a call that joins, only its waiting ends. */
  readonly signal?: AbortSignal | undefined
  readonly work: (deadline: AbortSignal, operation: UnderWay) => Promise<T>
}

export interface Operations {
  /** Does the work as the machine's only operation, or joins the same one. Throws `conflict` when another is under way. */
  run<T>(request: Request<T>): Promise<T>
  /** What a machine with an operation under way is shown as. */
  shown(id: string): TransientState | undefined
  /** Tells every operation to give up and refuses new ones; settles when none is under way. */
  close(): Promise<void>
}

/** What a promise gives, unless the signal comes first. */
export const unlessAborted = <T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> =>
  signal
    ? new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        result.then(resolve, reject)
      })
    : result

const shuttingDown = (): ServiceError =>
  new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')

/** At most one operation per machine, in memory; nothing queues. `changed` is told when one begins and when it ends. */
export const createOperations = (changed: (id: string) => void): Operations => {
  const running = new Map<string, Operation>()
  let closed = false

  const begin = <T>(
    { id, name, said, key, shown, limit, signal, work }: Request<T>,
    before?: Operation,
  ): Promise<T> => {
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
    const perform = async (): Promise<T> => {
      try {
        // The operation that was taken over ends in a stable state first; how it ended is its own callers' business.
        await before?.result.catch(() => {})
        controller.signal.throwIfAborted()
        return await work(controller.signal, underWay)
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', cancel)
        if (running.get(id) === operation) running.delete(id)
        changed(id)
      }
    }
    // The slot is taken before any of the work runs, so that nothing can come in between.
    const { promise, resolve } = Promise.withResolvers<T>()
    const giveWay = (reason: ServiceError): void => {
      takenOver = true
      controller.abort(reason)
    }
    const operation: Operation = {
      key,
      shown,
      result: promise,
      cancel: reason => controller.abort(reason),
      giveWay,
      said,
    }
    running.set(id, operation)
    changed(id)
    resolve(perform())
    return promise
  }

  return {
    run<T>(request: Request<T>): Promise<T> {
      if (closed) return Promise.reject(shuttingDown())
      if (request.signal?.aborted) return Promise.reject(request.signal.reason as Error)
      const current = running.get(request.id)
      if (!current) return begin(request)
      if (current.key === request.key) return unlessAborted(current.result as Promise<T>, request.signal)
      if (!request.takesOver)
        return Promise.reject(
          new ServiceError(
            'conflict',
            `${request.name} is ${current.said ?? current.shown}; wait until that is done, then try again.`,
          ),
        )
      current.giveWay(new ServiceError('conflict', `${request.name} was stopped by force before that was done.`))
      return begin(request, current)
    },
    shown: id => running.get(id)?.shown,
    async close() {
      closed = true
      const pending = [...running.values()]
      for (const operation of pending) operation.cancel(shuttingDown())
      await Promise.allSettled(pending.map(operation => operation.result))
    },
  }
}
