/** Prints what the service costs beside a floor that is measured in the same run: `npm run bench`, on Linux. */
import { catalogRows } from './catalog.ts'
import { chunkRow } from './chunks.ts'
import { executableRow } from './executable.ts'
import { httpRows } from './http.ts'
import { eventRows } from './events.ts'
import { identityRows } from './identity.ts'
import { startRows } from './start.ts'
import { storeRows } from './store.ts'
import { printTable } from './table.ts'

const rows = [
  ...(await httpRows()),
  ...(await identityRows()),
  ...(await eventRows()),
  ...(await startRows()),
  await executableRow(),
  ...(await storeRows()),
  ...(await catalogRows()),
  await chunkRow(),
]
printTable(rows)
