import { Command } from 'commander'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import { version } from '#lib/compose/version.ts'
import { commandTable, type TableRow } from './commands/table.ts'

const wrongUsage = 2

const exitCodesHelp = `
Exit codes:
  0  done
  1  failed: the work has begun and could not be done
  2  wrong usage: an unknown command or option, a missing argument or a wrong value; nothing was done
  3  refused by the service: no right to it, or not possible now
  4  there is nothing with this name
  5  the service cannot be reached`

/** Makes a command print one line and a hint at its help after wrong arguments, and end with the exit code of wrong usage. */
const configureUsageErrors = (command: Command, name: string): void => {
  command.showHelpAfterError(`\`${name} --help\` shows its commands and options.`)
  // The help ends through this too, with the code 0.
  command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : wrongUsage))
  for (const subcommand of command.commands) configureUsageErrors(subcommand, `${name} ${subcommand.name()}`)
}

/**
 * The tree of the commands.
 * @param called the commands of the first level that have their options and subcommands; of the others it has the name and the
 *   summary
 */
export const createProgram = async (
  parts: ProgramParts,
  called: readonly TableRow[] = commandTable,
): Promise<Command> => {
  const program = new Command('vmhost')
    .description('Management service for the virtual machines of this host')
    .version(version)
    // After a command `--version` is an option of that command, as for push and pull.
    .enablePositionalOptions()
  const context = called.length > 0 ? (await import('./commands/context.ts')).createContext(parts) : undefined
  for (const row of commandTable) {
    const command = context && called.includes(row) ? (await row.load())(context) : new Command(row.name)
    if (row.alias !== undefined) command.alias(row.alias)
    program.addCommand(command.description(row.summary))
  }
  program.addHelpText('afterAll', exitCodesHelp)
  configureUsageErrors(program, program.name())
  return program
}

/** Runs the command line. */
export const main = async (argv: readonly string[], parts: ProgramParts): Promise<void> => {
  // The reader may close the pipe early, as in `vmhost audit export | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  // `vmhost help users` calls it too.
  const words = new Set(argv.slice(2, 4))
  const called = commandTable.filter(({ name, alias = name }) => words.has(name) || words.has(alias))
  try {
    await (await createProgram(parts, called)).parseAsync([...argv])
  } catch (error) {
    const { describeFailure, toExitCode } = await import('./exit-code.ts')
    console.error(`vmhost: ${describeFailure(error)}`)
    process.exitCode = called.some(({ isLocal }) => isLocal) ? 1 : toExitCode(error)
  }
}
