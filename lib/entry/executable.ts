/** The entry of the single executable: the command line, or one of the programs that the service starts beside itself. */
import { main } from './cli.ts'
import { createExecutableParts, runOwnProgram } from './executable-parts.ts'
import { prepareProcess } from './prepare-process.ts'

if (!runOwnProgram(process.argv)) {
  prepareProcess()
  await main(process.argv, createExecutableParts())
}
