import type { Command } from 'commander'
import { events } from '#lib/commands/events.ts'
import { createGroupCommand } from '../definitions/create-commands.ts'
import type { CommandContext } from './context.ts'

interface Options {
  readonly follow?: true
  readonly since?: string
  readonly types?: string
  readonly json?: true
}

/** `vmhost events …` */
export const createEventsCommand = (context: CommandContext): Command => {
  const command = createGroupCommand(events, context)
    .option('--follow', 'show events as they happen, over lost connections too; Ctrl-C ends it')
    .option('--since <cursor>', 'begin after this cursor; default: only new events')
    .option('--types <types>', 'types of events, separated by commas')
    .option('--json', 'as JSON lines')
  context.createRegister()(command, async ({ client }) => {
    const options = command.opts<Options>()
    if (!options.follow) return command.help({ error: true })
    const { followEvents } = await import('../admin/follow-events.ts')
    await followEvents(client, options)
  })
  return command
}
