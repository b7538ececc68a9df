import { imageArea } from './cases/images.ts'
import { conform } from './conform.ts'

conform(imageArea)
