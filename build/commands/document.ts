import type { Command } from 'commander'
import { readTable } from '#lib/client/table.ts'
import { settings } from '#lib/compose/settings.ts'
import { createProgram } from '#lib/entry/cli.ts'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import { formatMarkdownTable } from '../markdown-table.ts'
import { findCommands, handWritten, withoutCommand } from './operations.ts'

/** Options that the introduction describes. */
const common = new Set(['config', 'context', 'host', 'json', 'fields'])

/** Finds the commands below one that do something, each with its words. */
const findLeaves = (command: Command, words: string): readonly (readonly [words: string, command: Command])[] => [
  ...(command.commands.length === 0 || words in handWritten ? ([[words, command]] as const) : []),
  ...command.commands.flatMap(child => findLeaves(child, `${words} ${child.name()}`)),
]

const formatOptions = ({ options }: Command): string =>
  options
    .filter(option => !option.hidden && !common.has(option.attributeName()))
    .filter(option => !(option.attributeName().replace(/[A-Z]/g, '_$&').toLowerCase() in settings))
    .map(({ flags }) => `\`${flags}\``)
    .join(' ')

const formatCommand = ([words, command]: readonly [string, Command]): readonly string[] => {
  const args = command.usage().replace('[options]', '').replace('[command]', '').trim()
  return [`\`${`${words} ${args}`.trim()}\``, command.description(), formatOptions(command)]
}

const formatEndpoints = (): string => {
  const commands = findCommands()
  const rows = readTable().map(({ area, name, method, path }) => {
    const operation = `${area}.${name}`
    const found = commands.get(operation)
    const reason = (withoutCommand as Readonly<Record<string, string>>)[operation]
    if (!found && reason === undefined)
      throw new Error(
        `${operation} has no command. Add one to lib/commands, or name it or the reason in build/commands/operations.ts.`,
      )
    if (found && reason !== undefined)
      throw new Error(`${operation} has a command, and build/commands/operations.ts says why it has none.`)
    const verb = method === 'SOCKET' ? 'GET' : method
    return [`\`${verb} ${path}\``, found ? found.map(words => `\`vmhost ${words}\``).join(', ') : (reason ?? '')]
  })
  return formatMarkdownTable(['Endpoint', 'Command'], rows)
}

const introduction = `# The command line

Made by \`npm run routes\` from the commands themselves. \`vmhost COMMAND --help\` says what each option does.

Every command calls the service of this host, or with \`--host\` or \`--context\` another one that you have signed in to with
\`vmhost login\`. \`--json\` prints the reply of the service as JSON, \`--fields\` only some of its members. The exit code is 0 when all
is done, 1 after a failure, 2 for wrong usage, 3 when the service refuses, 4 when there is nothing with this name, and 5 when
the service cannot be reached. \`vmhost exec\` ends with the exit code of the command in the guest.`

/**
 * Prints docs/command-line.md: the commands, and those of each endpoint. Throws for an endpoint that has neither a command nor a reason,
 * and for a command of build/commands/operations.ts that the program does not have.
 */
export const printCommandLine = async (): Promise<string> => {
  // The tree alone needs no parts.
  const program = await createProgram({} as ProgramParts)
  const groups = program.commands.map(command => ({ command, leaves: findLeaves(command, command.name()) }))
  const known = new Set(groups.flatMap(({ leaves }) => leaves.map(([words]) => words)))
  const unknown = Object.keys(handWritten).find(words => !known.has(words))
  if (unknown !== undefined) throw new Error(`build/commands/operations.ts names ${unknown}, which is no command.`)
  const sections = groups.map(
    ({ command, leaves }) =>
      `## vmhost ${command.name()}\n\n${command.description()}.\n\n${formatMarkdownTable(['Command', 'What it does', 'Options'], leaves.map(formatCommand))}`,
  )
  return `${[introduction, ...sections, `## Endpoints\n\n${formatEndpoints()}`].join('\n\n')}\n`
}
