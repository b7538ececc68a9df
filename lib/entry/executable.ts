/** The entry of the single executable: the command line, or one of the programs that the service starts beside itself. */
import { requireAsset } from './asset-modules.ts'
import { runOwnProgram } from './executable-parts.ts'

if (!runOwnProgram(process.argv)) requireAsset('program.mjs')
