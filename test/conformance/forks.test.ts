import { forkArea } from './cases/forks.ts'
import { conform } from './conform.ts'

conform(forkArea)
