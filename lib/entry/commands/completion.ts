import { Argument, Command } from 'commander'
import { formatBashCompletion } from '../completion/bash.ts'
import { formatFishCompletion } from '../completion/fish.ts'
import { findWords, type CommandWords } from '../completion/words.ts'
import { formatZshCompletion } from '../completion/zsh.ts'
import type { CommandContext } from './context.ts'

const shells = { bash: formatBashCompletion, zsh: formatZshCompletion, fish: formatFishCompletion } satisfies Readonly<
  Record<string, (words: readonly CommandWords[]) => string>
>

const help = `
For example:
  source <(vmhost completion bash)     in ~/.bashrc; it needs bash 4 or later
  source <(vmhost completion zsh)      in ~/.zshrc, after compinit
  vmhost completion fish | source      in ~/.config/fish/config.fish`

/** `vmhost completion` */
export const createCompletionCommand = ({ parts }: CommandContext): Command => {
  const command = new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(shells)))
    .addHelpText('after', help)
  return command.action(async (shell: keyof typeof shells) => {
    const { createProgram } = await import('../cli.ts')
    console.log(shells[shell](findWords(await createProgram(parts))))
  })
}
