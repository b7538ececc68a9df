import { consoleArea } from './cases/consoles.ts'
import { conform } from './conform.ts'

conform(consoleArea)
