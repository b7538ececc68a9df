import type { HypervisorDriver } from './driver.ts'

/** What a driver was asked, and how that went. */
export interface DriverCall {
  readonly call: string
  readonly outcome: 'done' | 'failed'
  readonly milliseconds: number
}

/** A driver whose calls that change something are told of when they end. */
export const meteredDriver = (driver: HypervisorDriver, ended: (what: DriverCall) => void): HypervisorDriver => {
  const timed = async <T>(call: string, work: () => Promise<T>): Promise<T> => {
    const begun = performance.now()
    let outcome: DriverCall['outcome'] = 'failed'
    try {
      const result = await work()
      outcome = 'done'
      return result
    } finally {
      ended({ call, outcome, milliseconds: performance.now() - begun })
    }
  }
  return {
    ...driver,
    run: (id, verb, how) => timed(verb, () => driver.run(id, verb, how)),
    create: machine => timed('create', () => driver.create(machine)),
    clone: (id, name, how) => timed('clone', () => driver.clone(id, name, how)),
    export: (id, how) => timed('export', () => driver.export(id, how)),
    adopt: (machine, fill) => timed('adopt', () => driver.adopt(machine, fill)),
    configure: (id, changes) => timed('configure', () => driver.configure(id, changes)),
    remove: id => timed('remove', () => driver.remove(id)),
  }
}
