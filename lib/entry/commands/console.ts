import { Command } from 'commander'
import { escapeControls } from '../admin/text-table.ts'
import type { CommandContext } from './context.ts'

interface Options {
  readonly readOnly?: true
  readonly takeOver?: true
}

/** `vmhost console` */
export const createConsoleCommand = ({ createRegister }: CommandContext): Command => {
  const command = new Command('console')
    .argument('<machine>', 'name or id of the machine')
    .option('--read-only', 'do not write, so that somebody else can')
    .option('--take-over', 'write in place of the connection that writes now')
  createRegister()<Options>(command, async ({ target }, { args: [machine = ''], options }) => {
    const { readOnly, takeOver } = options
    const { attachConsole } = await import('../admin/attach-console.ts')
    await attachConsole({
      target,
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
