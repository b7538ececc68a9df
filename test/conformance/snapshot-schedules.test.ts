import { snapshotScheduleArea } from './cases/snapshots.ts'
import { conform } from './conform.ts'

conform(snapshotScheduleArea)
