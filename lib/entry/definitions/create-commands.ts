import { Command } from 'commander'
import type { CommandDefinition, CommandGroup, Input } from '#lib/commands/definition.ts'
import type { CommandContext } from '../commands/context.ts'
import { isArgument, isRequired } from './inputs.ts'

/** Arguments are optional for the parser, because a terminal asks for those that are missing. */
const toOptional = ({ flag }: Input): string => flag.replace('<', '[').replace('>', ']')

const collect = (value: string, previous: readonly string[] | undefined): readonly string[] => [
  ...(previous ?? []),
  value,
]

const isRepeated = ({ kind }: Input): boolean => kind === 'list' || kind === 'pairs' || kind === 'changes'

const addInput = (command: Command, input: Input): void => {
  const { flag, about, kind } = input
  if (isArgument(input)) command.argument(toOptional(input), about)
  else if (isRepeated(input)) command.option(flag, about, collect)
  // A secret that is always needed is asked for, and has no option.
  else if (kind !== 'secret' || !isRequired(input)) command.option(flag, about)
}

/** Pairs the inputs of a command with what the command line has for them. */
const readInputs = (
  command: Command,
  inputs: readonly Input[],
  connection: string | undefined,
): readonly (readonly [Input, unknown])[] => {
  const options = command.options
  const texts = command.processedArgs
  const args = inputs.filter(isArgument)
  const given = inputs.map((input): readonly [Input, unknown] => {
    if (isArgument(input)) return [input, texts[args.indexOf(input)]]
    const name = options.find(({ flags }) => flags === input.flag)?.attributeName() ?? ''
    const value: unknown = command.getOptionValue(name)
    if (input.kind === 'no') return [input, value === false ? false : undefined]
    return [input, input.kind === 'connection' ? (value ?? connection) : value]
  })
  return given.filter(([input, value]) => value !== undefined && !(isRepeated(input) && (value as []).length === 0))
}

/** Creates the command of a definition. */
const addDefinition = (
  command: Command,
  definition: CommandDefinition,
  group: CommandGroup,
  context: CommandContext,
): void => {
  const { inputs = [], summary, alias, isFile } = definition
  if (command.description() === '') command.description(summary)
  if (alias !== undefined) command.alias(alias)
  for (const input of inputs) addInput(command, input)
  const usage = inputs.filter(input => isArgument(input) || isRequired(input)).map(({ flag }) => flag)
  command.usage(['[options]', ...usage].join(' '))
  if (isFile) command.option('--output <file>', 'file to write; default: standard output')
  else
    command
      .option('--json', 'print the reply as JSON')
      .option('--fields <names>', 'only these members of the reply, separated by commas')
  context.createRegister(group.offline)(command, async service => {
    const { runDefinition } = await import('./run.ts')
    await runDefinition(service, command, definition, readInputs(command, inputs, context.connection))
  })
}

const findOrAdd = (parent: Command, name: string, summary: string): Command =>
  parent.commands.find(command => command.name() === name) ?? parent.command(name).description(summary)

/**
 * Creates the command of a group with its subcommands.
 * @param command a command that has subcommands already; those of the group are added to it
 */
export const createGroupCommand = (
  group: CommandGroup,
  context: CommandContext,
  command = new Command(group.name),
): Command => {
  for (const definition of group.commands) {
    const words = definition.name.split(' ')
    const [last = ''] = words.slice(-1)
    const parent = words
      .slice(0, -1)
      .reduce((outer, word) => findOrAdd(outer, word, group.sections?.[word] ?? ''), command)
    addDefinition(last === '' ? command : parent.command(last), definition, group, context)
  }
  return command
}
