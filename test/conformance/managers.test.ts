import { managerArea } from './cases/managers.ts'
import { conform } from './conform.ts'

conform(managerArea)
