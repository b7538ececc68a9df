import type { Command } from 'commander'

interface Words {
  /** The words of a command: `machines start`. */
  readonly path: string
  /** What may follow: its subcommands and options. */
  readonly next: readonly string[]
}

const findWords = (command: Command, path: readonly string[]): readonly Words[] => [
  {
    path: path.join(' '),
    next: [
      ...command.commands.map(child => child.name()),
      ...command.options.flatMap(({ hidden, long }) => (hidden || !long ? [] : [long])),
      '--help',
    ],
  },
  ...command.commands.flatMap(child =>
    [child.name(), ...child.aliases()].flatMap(name => findWords(child, [...path, name])),
  ),
]

/**
 * Writes what completes the commands and the options of a program in bash. Where neither fits, bash completes the names of files.
 * @param program the whole tree of the commands
 */
export const formatBashCompletion = (program: Command): string => {
  const words = findWords(program, [])
  return `# Completion of vmhost in bash. To use it: source <(vmhost completion bash)
declare -A _vmhost_words=(
${words.map(({ path, next }) => `  ['vmhost${path && ` ${path}`}']='${next.join(' ')}'`).join('\n')}
)
_vmhost() {
  local path=vmhost word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ -n \${_vmhost_words["$path $word"]} ]] && path="$path $word"
  done
  COMPREPLY=($(compgen -W "\${_vmhost_words[$path]}" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _vmhost vmhost`
}
