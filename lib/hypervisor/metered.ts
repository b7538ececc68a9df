import type { HypervisorDriver } from './driver.ts'

/** A completed call of a driver and its outcome. */
export interface DriverCall {
  readonly call: string
  readonly outcome: 'done' | 'failed'
  readonly milliseconds: number
}

/** Wraps a driver: `onCallEnd` receives every call that changes something when it ends. */
export const meterDriver = (driver: HypervisorDriver, onCallEnd: (call: DriverCall) => void): HypervisorDriver => {
  const measure = async <T>(call: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now()
    let outcome: DriverCall['outcome'] = 'failed'
    try {
      const result = await work()
      outcome = 'done'
      return result
    } finally {
      onCallEnd({ call, outcome, milliseconds: performance.now() - startedAt })
    }
  }
  const { forks } = driver
  return {
    ...driver,
    ...(forks && {
      forks: {
        fork: (...call) => measure('fork', () => forks.fork(...call)),
        forkSnapshot: (...call) => measure('fork', () => forks.forkSnapshot(...call)),
      },
    }),
    run: (id, verb, options) => measure(verb, () => driver.run(id, verb, options)),
    create: machine => measure('create', () => driver.create(machine)),
    clone: (id, name, options) => measure('clone', () => driver.clone(id, name, options)),
    export: (id, options) => measure('export', () => driver.export(id, options)),
    // The metric has always counted imports under this name.
    import: (machine, populate) => measure('adopt', () => driver.import(machine, populate)),
    configure: (id, next) => measure('configure', () => driver.configure(id, next)),
    remove: id => measure('remove', () => driver.remove(id)),
  }
}
