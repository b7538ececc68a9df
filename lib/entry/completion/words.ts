import type { Command } from 'commander'

/** What may follow a command. */
export interface CommandWords {
  /** The words of the command: `vmhost machines start`. */
  readonly path: string
  /** Its subcommands and options. */
  readonly next: readonly string[]
}

/**
 * Returns what may follow each command of a program. A command with aliases has an entry for each of its names.
 * @param command the program, with the whole tree of its commands
 */
export const findWords = (command: Command, path = command.name()): readonly CommandWords[] => [
  {
    path,
    next: [
      ...command.commands.map(child => child.name()),
      ...command.options.flatMap(({ hidden, long }) => (hidden || !long ? [] : [long])),
      '--help',
    ],
  },
  ...command.commands.flatMap(child =>
    [child.name(), ...child.aliases()].flatMap(name => findWords(child, `${path} ${name}`)),
  ),
]
