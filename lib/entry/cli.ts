import { Command } from 'commander'
import { messageOf, ServiceError } from '#lib/errors.ts'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import { version } from '#lib/compose/version.ts'
import { ConfigError } from '#lib/compose/config-error.ts'
import { commandTable, type TableRow } from './commands/table.ts'

const wrongUsage = 2

const exitCodesHelp = `
Exit codes:
  0  done
  1  failed, or refused by the service
  2  wrong usage: an unknown command or option, or a missing argument; nothing was done`

/** Makes a command print one line and a hint at its help after wrong arguments, and end with the exit code of wrong usage. */
const configureUsageErrors = (command: Command, name: string): void => {
  command.showHelpAfterError(`\`${name} --help\` shows its commands and options.`)
  // The help ends through this too, with the code 0.
  command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : wrongUsage))
  for (const subcommand of command.commands) configureUsageErrors(subcommand, `${name} ${subcommand.name()}`)
}

/** True for an error of the operating system or SQLite, which the operator can solve. It is not a defect. */
const isOperatorError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(E[A-Z]+|ERR_SQLITE_ERROR)$/.test(String(error.code))

/**
 * The tree of the commands.
 * @param isCalled selects the commands of the first level that have their options and subcommands; of the others it has the name
 *   and the summary
 */
export const createProgram = async (
  parts: ProgramParts,
  isCalled: (row: TableRow) => boolean = () => true,
): Promise<Command> => {
  const program = new Command('vmhost')
    .description('Management service for the virtual machines of this host')
    .version(version)
    // After a command `--version` is an option of that command, as for push and pull.
    .enablePositionalOptions()
  const called = new Set(commandTable.filter(isCalled))
  const context = called.size > 0 ? (await import('./commands/context.ts')).createContext(parts) : undefined
  for (const row of commandTable) {
    const command = context && called.has(row) ? (await row.load())(context) : new Command(row.name)
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
  try {
    // `vmhost help users` calls it too.
    const words = new Set(argv.slice(2, 4))
    await (await createProgram(parts, ({ name }) => words.has(name))).parseAsync([...argv])
  } catch (error) {
    const isExpected = error instanceof ServiceError || error instanceof ConfigError || isOperatorError(error)
    // The message of an expected error is enough. Any other error is a defect and needs its stack trace.
    console.error(`vmhost: ${isExpected || !(error instanceof Error) ? messageOf(error) : error.stack}`)
    process.exitCode = 1
  }
}
