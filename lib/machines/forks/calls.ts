import type { Principal } from '#lib/access/principal.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import type { MachineContext } from '../context.ts'
import { forkMachine } from './fork.ts'
import type { ForkedMachines, ForkMachine } from './schemas.ts'

/** The calls that fork machines. */
export interface ForkCalls {
  /** Makes running copies of a running machine (see `forkMachine`). */
  fork(
    reference: string,
    request: ForkMachine,
    options: { readonly maker: Principal; readonly progress?: ProgressReporter },
  ): Promise<ForkedMachines>
}

interface Options {
  readonly context: MachineContext
  /** Settles as a call does, after the events of the call are stored. */
  readonly afterEvents: <T>(call: PromiseLike<T>) => Promise<T>
}

export const createForkCalls = ({ context, afterEvents }: Options): ForkCalls => ({
  fork: (reference, request, options) => afterEvents(forkMachine(context, reference, request, options)),
})
