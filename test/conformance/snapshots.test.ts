import { snapshotArea } from './cases/snapshots.ts'
import { conform } from './conform.ts'

conform(snapshotArea)
