/** The command line of the single executable. */
import { main } from './cli.ts'
import { createExecutableParts } from './executable-parts.ts'
import { prepareProcess } from './prepare-process.ts'

prepareProcess()
void main(process.argv, createExecutableParts())
