import { userConfigArea } from './cases/user-configs.ts'
import { conform } from './conform.ts'

conform(userConfigArea)
