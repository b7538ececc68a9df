import type { HostMachine } from './heartbeat-schemas.ts'

/** The most characters of one record of a machine, and of the body of one event. Those of real machines have some thousands. */
export const maxRecordLength = 16_000
/** The most characters of all records of a host. They are in the memory of this service, which all hosts share. */
const maxHostLength = 16_000_000

/** The length of a record as text. Records are immutable, so each is measured once. */
const lengths = new WeakMap<HostMachine, number>()
const measure = (record: HostMachine): number => {
  const known = lengths.get(record) ?? JSON.stringify(record).length
  lengths.set(record, known)
  return known
}

/**
 * Creates the function that limits what is kept of a host's machines besides those that are kept already. Of a record that is too
 * long only the id and the name are kept: the machine can be found, and its host knows the rest.
 */
export const createRecordLimit = (kept: readonly HostMachine[]): ((record: HostMachine) => HostMachine) => {
  let total = kept.reduce((sum, record) => sum + measure(record), 0)
  return record => {
    const length = measure(record)
    const isKept = length <= maxRecordLength && total + length <= maxHostLength
    const { ID, Name } = record
    const limited = isKept ? record : { ID, Name }
    total += measure(limited)
    return limited
  }
}
