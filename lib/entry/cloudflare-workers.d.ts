/** What the runtime of the edge provides, as far as the programs use it. */
declare module 'cloudflare:workers' {
  import type { HibernatingSockets } from '#lib/events/hibernating/socket.ts'
  import type { DurableObjectStorage } from '#lib/storage/durable-object/sql.ts'

  interface DurableObjectState extends HibernatingSockets {
    readonly storage: DurableObjectStorage & {
      setAlarm(time: number): Promise<void>
      /** Milliseconds since 1970; null when there is none. */
      getAlarm(): Promise<number | null>
    }
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
