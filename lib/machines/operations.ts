import { ServiceError } from '#lib/errors.ts'
import { abortable } from '#lib/async/abortable.ts'
import type { WaitLimit } from '#lib/async/progress.ts'
import { createOperation, type Operation, type OperationMode, type OperationRequest } from './operation.ts'
import type { TransientState } from './states.ts'
import { createWaiter, type Waiter } from './waiter.ts'

/** The operations of all machines: one at a time on each machine, or several that only read. */
export interface Operations {
  /**
   * Runs an operation, or joins the running one with the same key. Requests for a busy machine wait in the order in which they
   * came. Throws `conflict` when the wait limit passes first, `unavailable` during the shutdown, and what `chooseMode` and
   * `work` throw.
   */
  run(request: OperationRequest): Promise<void>
  /** Returns the transient state of a machine, or undefined if no operation runs on it. */
  getTransientState(id: string): TransientState | undefined
  /**
   * Refuses new operations, cancels the running ones and settles when they have ended. Throws `timeout` at the deadline, with
   * the machines that are still busy.
   */
  close(deadline?: AbortSignal): Promise<void>
}

/** The operations of one machine: the running ones, and the requests that wait, oldest first. */
interface Queue {
  readonly running: Set<Operation>
  readonly waiting: Waiter<OperationRequest>[]
}

const createShutdownError = (): ServiceError =>
  new ServiceError('unavailable', 'The service is shutting down; try again when it is back.')

const describeOperation = ({ label, transientState }: Operation): string => label ?? transientState

const createBusyError = ({ running }: Queue, { name }: OperationRequest): ServiceError => {
  const [current] = running
  return new ServiceError(
    'conflict',
    `${name} is ${current && describeOperation(current)}; wait until that is done, then try again.`,
  )
}

/** Creates the operations of all machines. `onChange` receives the id of a machine whose transient state has changed. */
export const createOperations = (onChange: (id: string) => void): Operations => {
  const queues = new Map<string, Queue>()
  let isClosed = false

  const start = (
    queue: Queue,
    request: OperationRequest,
    mode: OperationMode,
    preempted: readonly Operation[] = [],
  ): Promise<void> => {
    const { id } = request
    const operation = createOperation(request, mode, {
      preempted,
      onChange: () => onChange(id),
      onEnd() {
        queue.running.delete(operation)
        onChange(id)
        startWaiting(id, queue)
      },
    })
    // The operation is registered before its work begins, so that no other operation can start in between.
    queue.running.add(operation)
    queues.set(id, queue)
    onChange(id)
    operation.begin()
    return operation.result
  }

  /** Joins or starts an operation. Returns undefined if a running operation excludes it. */
  const joinOrStart = (queue: Queue, request: OperationRequest): Promise<void> | undefined => {
    const running = [...queue.running]
    const joined = running.find(({ key }) => key === request.key)
    if (joined) return abortable(joined.result, request.signal)
    if (running.some(({ isShared }) => !isShared)) return undefined
    try {
      const mode = request.chooseMode(false)
      if (!mode) return Promise.resolve()
      return running.length === 0 || mode.isShared ? start(queue, request, mode) : undefined
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Preempts the running operations and starts a forced one in their place. */
  const preemptAndStart = (queue: Queue, request: OperationRequest): Promise<void> => {
    const preempted = [...queue.running]
    queue.running.clear()
    for (const operation of preempted)
      operation.preempt(new ServiceError('conflict', `${request.name} was stopped by force before that was done.`))
    // There is always something to do when an operation takes the place of others.
    return start(queue, request, request.chooseMode(true)!, preempted)
  }

  /** Starts the waiting requests that nothing excludes any more, in their order. */
  const startWaiting = (id: string, queue: Queue): void => {
    if (isClosed) return
    for (let [next] = queue.waiting; next; [next] = queue.waiting) {
      const operation = joinOrStart(queue, next.request)
      if (!operation) return
      queue.waiting.shift()
      next.resolve(operation)
    }
    if (queue.running.size === 0) queues.delete(id)
  }

  const waitInQueue = (queue: Queue, request: OperationRequest, waitLimit: WaitLimit): Promise<void> => {
    const waiter = createWaiter(request, waitLimit, {
      createTimeoutError: () => createBusyError(queue, request),
      onRejected() {
        queue.waiting.splice(queue.waiting.indexOf(waiter), 1)
        // The next request may have waited only for this one.
        startWaiting(request.id, queue)
      },
    })
    queue.waiting.push(waiter)
    return waiter.result
  }

  return {
    async run(request) {
      const { id, key, isForced = false, waitLimit, signal } = request
      if (isClosed) throw createShutdownError()
      signal?.throwIfAborted()
      const queue = queues.get(id) ?? { running: new Set(), waiting: [] }
      const isSameRunning = [...queue.running].some(operation => operation.key === key)
      if (isForced && queue.running.size > 0 && !isSameRunning) return preemptAndStart(queue, request)
      // While others wait, even a request with the key of the running operation waits, because they may change the state.
      const operation = isForced || queue.waiting.length === 0 ? joinOrStart(queue, request) : undefined
      if (operation) return operation
      if (!waitLimit || waitLimit.milliseconds <= 0) throw createBusyError(queue, request)
      return waitInQueue(queue, request, waitLimit)
    },
    getTransientState(id) {
      const [current] = queues.get(id)?.running ?? []
      return current?.transientState
    },
    async close(deadline) {
      isClosed = true
      const listRunning = (): Operation[] => [...queues.values()].flatMap(({ running }) => [...running])
      const pending = listRunning()
      for (const { waiting } of queues.values()) for (const waiter of [...waiting]) waiter.reject(createShutdownError())
      for (const operation of pending) operation.cancel(createShutdownError())
      const ended = Promise.allSettled(pending.map(({ result }) => result))
      await abortable(ended, deadline).catch(() => {
        const busy = listRunning().map(operation => `${operation.name} is ${describeOperation(operation)}`)
        throw new ServiceError('timeout', `Operations did not end after they were cancelled: ${busy.join(', ')}.`)
      })
    },
  }
}
