import { tokenArea } from './cases/tokens.ts'
import { conform } from './conform.ts'

conform(tokenArea)
