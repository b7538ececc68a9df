import { contracts } from './cases/contract/area.ts'
import { conform } from './conform.ts'

conform(contracts)
