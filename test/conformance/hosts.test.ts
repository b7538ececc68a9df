import { hostArea } from './cases/hosts.ts'
import { conform } from './conform.ts'

conform(hostArea)
