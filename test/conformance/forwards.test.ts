import { forwardArea } from './cases/forwards.ts'
import { conform } from './conform.ts'

conform(forwardArea)
