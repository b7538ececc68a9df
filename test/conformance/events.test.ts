import { eventArea } from './cases/events.ts'
import { conform } from './conform.ts'

conform(eventArea)
