import { roleArea } from './cases/roles.ts'
import { conform } from './conform.ts'

conform(roleArea)
