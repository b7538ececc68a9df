import { transferArea } from './cases/transfers.ts'
import { conform } from './conform.ts'

conform(transferArea)
