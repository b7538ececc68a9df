import { ServiceError } from '#lib/errors.ts'
import { abortableAfterGrace } from '#lib/async/abortable.ts'
import type { WaitLimit } from '#lib/async/progress.ts'
import type { TransientState } from './states.ts'

/** An operation of a machine. */
export interface Operation {
  /** The name of the machine. */
  readonly name: string
  /** A request with the same key joins the operation. */
  readonly key: string
  /** True if the operation only reads. Such operations may run side by side. */
  readonly isShared: boolean
  /** The state that clients see now. */
  readonly transientState: TransientState
  /** What messages say that the machine is, such as `being packed`, if it is not the transient state. */
  readonly label: string | undefined
  /** Settles as the work does. */
  readonly result: Promise<void>
  /** Starts the work. Call it once, after other operations can see this one. */
  begin(): void
  cancel(reason: ServiceError): void
  /** Cancels the operation because a forced one takes its place. The operation may then leave the machine in any stable state. */
  preempt(reason: ServiceError): void
}

/** The part of an operation that its work can see and change. */
export interface OperationControl {
  /** Changes the state that clients see from now on. */
  setTransientState(state: TransientState): void
  /** True if a forced operation waits for this one to end. */
  isPreempted(): boolean
}

/** How an operation runs. The state of the machine at its start decides it: a start of a suspended machine is a resume. */
export interface OperationMode {
  readonly transientState: TransientState
  /** True if the operation only reads. Such operations may run side by side. */
  readonly isShared: boolean
  /** Milliseconds until the operation is cancelled. */
  readonly timeLimit: number
  /** A sentence that the message at the time limit ends with. It says what the caller can do. */
  readonly timeoutAdvice?: string | undefined
}

export interface OperationRequest {
  /** The id of the machine. */
  readonly id: string
  /** The name of the machine, for messages. */
  readonly name: string
  /** What messages say that the machine is, if it is not the transient state. */
  readonly label?: string | undefined
  readonly key: string
  /**
   * Chooses the mode for the present state of the machine. Returns undefined if there is nothing to do, and throws if the state
   * does not allow the operation. With `isPreempting` other operations still run, so the state may change.
   */
  readonly chooseMode: (isPreempting: boolean) => OperationMode | undefined
  /** True if the operation cancels the running ones and takes their place. */
  readonly isForced?: boolean
  /** Aborts when the caller cancels the operation. If the request has joined an operation, only its wait ends. */
  readonly signal?: AbortSignal | undefined
  /** How long the request waits for a busy machine. Without it, a busy machine is a conflict at once. */
  readonly waitLimit?: WaitLimit | undefined
  /** Does the work. It must end in a stable state soon after `deadline` aborts. */
  readonly work: (deadline: AbortSignal, control: OperationControl) => Promise<void>
}

interface Options {
  /** The operations whose place this one takes. The work starts when they have ended. */
  readonly preempted: readonly Operation[]
  /** Called when the transient state has changed. */
  readonly onChange: () => void
  /** Called when the work has ended, before `result` settles. */
  readonly onEnd: () => void
}

const createTimeoutError = (
  { name, label }: OperationRequest,
  { transientState, timeLimit, timeoutAdvice }: OperationMode,
): ServiceError => {
  const duration = timeLimit < 10_000 ? `${timeLimit} ms` : `${Math.round(timeLimit / 1000)} seconds`
  const message = `${name} was still ${label ?? transientState} after ${duration}, so the operation was cancelled.`
  return new ServiceError('timeout', timeoutAdvice === undefined ? message : `${message} ${timeoutAdvice}`)
}

/** Waits until preempted operations have left the machine in a stable state. */
const waitForPreempted = async (preempted: readonly Operation[]): Promise<void> => {
  const ended = Promise.allSettled(preempted.map(({ result }) => result))
  // The signal is aborted from the beginning, so the wait ends after the grace period at the latest. The forced operation then
  // starts although another one hangs: the driver ends that one together with the machine.
  await abortableAfterGrace(AbortSignal.abort(), ended).catch(() => {})
}

/** Creates an operation. It is cancelled when its time limit passes or the signal of the request aborts. */
export const createOperation = (
  request: OperationRequest,
  mode: OperationMode,
  { preempted, onChange, onEnd }: Options,
): Operation => {
  const { name, label, key, signal, work } = request
  const { isShared } = mode
  let { transientState } = mode
  let isPreempted = false
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(createTimeoutError(request, mode)), mode.timeLimit)
  const onAbort = (): void => controller.abort(signal?.reason)
  signal?.addEventListener('abort', onAbort)
  const control: OperationControl = {
    setTransientState(state) {
      transientState = state
      onChange()
    },
    isPreempted: () => isPreempted,
  }
  const perform = async (): Promise<void> => {
    try {
      if (preempted.length > 0) await waitForPreempted(preempted)
      controller.signal.throwIfAborted()
      await work(controller.signal, control)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      onEnd()
    }
  }
  const { promise: result, resolve } = Promise.withResolvers<void>()
  return {
    name,
    key,
    isShared,
    get transientState() {
      return transientState
    },
    label,
    result,
    begin: () => resolve(perform()),
    cancel: reason => controller.abort(reason),
    preempt(reason) {
      isPreempted = true
      controller.abort(reason)
    },
  }
}
