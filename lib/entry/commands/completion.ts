import { Argument, Command } from 'commander'
import { formatBashCompletion } from '../completion.ts'
import type { CommandContext } from './context.ts'

/** `vmhost completion` */
export const createCompletionCommand = ({ parts }: CommandContext): Command =>
  new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash']))
    .addHelpText('after', '\nIt needs bash 4 or later. For example in ~/.bashrc:\n  source <(vmhost completion bash)')
    .action(async () => {
      const { createProgram } = await import('../cli.ts')
      console.log(formatBashCompletion(await createProgram(parts)))
    })
