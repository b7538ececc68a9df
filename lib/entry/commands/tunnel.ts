import { Command, InvalidArgumentError } from 'commander'
import { toMachinePath } from '../admin/machine-path.ts'
import { openStream } from '../admin/open-stream.ts'
import type { CommandContext } from './context.ts'

const parsePort = (text: string): string => {
  if (!/^\d{1,5}$/.test(text) || Number(text) < 1 || Number(text) > 65_535)
    throw new InvalidArgumentError('A port is a number from 1 to 65535.')
  return text
}

const help = `
It ends when its standard input ends, and when the guest closes the connection. For example:
  ssh -o ProxyCommand='vmhost tunnel %h %p' debian@web`

/** `vmhost tunnel` */
export const createTunnelCommand = ({ createRegister }: CommandContext): Command => {
  const command = new Command('tunnel')
    .argument('<machine>', 'name or id of the machine')
    .argument('<port>', 'TCP port of the guest', parsePort)
    .addHelpText('after', help)
  createRegister()(command, async ({ target }, { args: [machine = '', port = ''] }) => {
    const { stream, closed } = openStream(target, toMachinePath(machine, 'tunnel', { port }))
    process.stdin.pipe(stream).pipe(process.stdout)
    try {
      await closed
    } finally {
      // It would keep this process alive.
      process.stdin.destroy()
    }
  })
  return command
}
