/** What the runtime of the edge provides, as far as the programs use it. */
declare module 'cloudflare:workers' {
  import type { DurableObjectStorage } from '#lib/storage/durable-object/sql.ts'

  interface DurableObjectState {
    readonly storage: DurableObjectStorage & {
      setAlarm(time: number): Promise<void>
      getAlarm(): Promise<number | null>
    }
    /** Lets no request in before `work` has ended. A throw of it resets the object. */
    blockConcurrencyWhile<T>(work: () => Promise<T>): Promise<T>
    waitUntil(work: Promise<unknown>): void
  }

  export abstract class DurableObject<Environment = unknown> {
    constructor(ctx: DurableObjectState, env: Environment)
    protected readonly ctx: DurableObjectState
    protected readonly env: Environment
  }

  export abstract class WorkerEntrypoint<Environment = unknown> {
    constructor(ctx: object, env: Environment)
    protected readonly env: Environment
  }
}
