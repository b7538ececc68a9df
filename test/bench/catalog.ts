import { inventoryRows } from './inventory.ts'
import type { Row } from './table.ts'
import { transferRows } from './transfers.ts'
import { verifyRow } from './verify-cost.ts'

/** The catalog with many manifests, and what packs cost that go in and come out. Needs QEMU, tar, gzip and curl. */
export const catalogRows = async (): Promise<readonly Row[]> => [
  ...(await inventoryRows()),
  ...(await transferRows()),
  await verifyRow(),
]
