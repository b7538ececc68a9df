import { poolArea } from './cases/pools.ts'
import { conform } from './conform.ts'

conform(poolArea)
