import { machineArea } from './cases/machines.ts'
import { conform } from './conform.ts'

conform(machineArea)
