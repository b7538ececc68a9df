/** The entry of the single executable: the command line, or one of the programs that the service starts beside itself. */
import { createExecutableParts, ownProgramNames } from './executable-parts.ts'
import { prepareProcess } from './prepare-process.ts'

const name = process.argv[2]
const isOwnProgram = name === ownProgramNames.events || name === ownProgramNames.recorder
// These programs look for their arguments where a program of its own has them.
if (isOwnProgram) process.argv.splice(2, 1)

if (name === ownProgramNames.events) await import('./events.ts')
else if (name === ownProgramNames.recorder) await import('./recorder.ts')
else {
  prepareProcess()
  await (await import('./cli.ts')).main(process.argv, createExecutableParts())
}
