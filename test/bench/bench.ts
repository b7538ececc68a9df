/**
 * Prints what the service costs beside a floor that is measured in the same run: `npm run bench`, on Linux. With names of groups,
 * only their rows: `npm run bench -- guests idle-guests`. With `--record` it writes them into docs/performance.md too.
 */
import { parseArgs } from 'node:util'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { catalogRows } from './catalog.ts'
import { chunkRow } from './chunks.ts'
import { consoleRows } from './console.ts'
import { executableRow } from './executable.ts'
import { helpRow } from './help.ts'
import { httpRows } from './http.ts'
import { eventRows } from './events.ts'
import { guestStartRows } from './guests.ts'
import { identityRows } from './identity.ts'
import { idleGuestRows } from './idle-guests.ts'
import { startRows } from './start.ts'
import { storeRows } from './store.ts'
import { poolRows } from './pools.ts'
import { forkRows } from './forks.ts'
import { describeRun } from '../support/measured/describe-run.ts'
import { document, recordRows } from './record.ts'
import { writeSummary } from './summary.ts'
import { printTable, type Row } from './table.ts'
import { usageRow } from './usage.ts'

const withQemu = (measure: () => Promise<readonly Row[]>) => async (): Promise<readonly Row[]> => {
  if (await findQemu()) return measure()
  console.log('The rows of guests are left out, because QEMU is not installed.')
  return []
}

const groups: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  http: httpRows,
  identity: identityRows,
  events: eventRows,
  console: consoleRows,
  start: startRows,
  help: async () => [helpRow()],
  executable: async () => [await executableRow()],
  store: storeRows,
  catalog: catalogRows,
  chunks: async () => [await chunkRow()],
  usage: async () => [await usageRow()],
  guests: withQemu(guestStartRows),
  pools: withQemu(poolRows),
  forks: withQemu(forkRows),
  'idle-guests': withQemu(idleGuestRows),
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { record: { type: 'boolean' } } })
const names = positionals.length > 0 ? positionals : Object.keys(groups)
const unknown = names.find(name => !Object.hasOwn(groups, name))
if (unknown !== undefined)
  throw new Error(`There are no rows called ${unknown}; the groups are ${Object.keys(groups).join(', ')}.`)
const rows: Row[] = []
for (const name of names) {
  const run = await describeRun(document)
  const measured = await groups[name]!()
  rows.push(...measured)
  if (!values.record || measured.length === 0) continue
  recordRows(name, run, measured)
  writeSummary()
}
printTable(rows)
