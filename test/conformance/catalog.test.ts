import { catalogArea } from './cases/catalog.ts'
import { conform } from './conform.ts'

conform(catalogArea)
