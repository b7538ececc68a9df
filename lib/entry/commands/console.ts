import { Command } from 'commander'
import { findServiceTarget } from '../admin/service-target.ts'
import { escapeControls } from '../admin/text-table.ts'
import type { CommandContext } from './context.ts'

interface Options {
  readonly readOnly?: true
  readonly takeOver?: true
}

const help = `
VMHOST_CONNECTION names the service of another host: host=KEY@https://… or host=USER:PASSWORD@https://…`

/** `vmhost console`. The connection names the service; without it, it is that of this host. */
export const createConsoleCommand = ({ registerLocal: register, connection }: CommandContext): Command => {
  const command = new Command('console')
    .argument('<machine>', 'name or id of the machine')
    .option('--read-only', 'do not write, so that somebody else can')
    .option('--take-over', 'write in place of the connection that writes now')
    .addHelpText('after', help)
  register(command, async (config, [machine = '']) => {
    const { readOnly, takeOver } = command.opts<Options>()
    const { attachConsole } = await import('../admin/attach-console.ts')
    await attachConsole({
      findTarget: () => findServiceTarget(config, connection),
      machine,
      writer: readOnly ? undefined : takeOver ? 'take-over' : 'claim',
      input: process.stdin,
      output: process.stdout,
      // The line begins at the left also on a terminal in raw mode.
      show: line => process.stderr.write(`\r[${escapeControls(line)}]\r\n`),
    })
  })
  return command
}
