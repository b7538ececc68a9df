import { userArea } from './cases/users.ts'
import { conform } from './conform.ts'

conform(userArea)
