import { systemArea } from './cases/system.ts'
import { conform } from './conform.ts'

conform(systemArea)
