import type { Api } from '#lib/client/api.gen.ts'

/** The name of an operation of the API, as in the typed client: its area and its name. */
export type OperationName = { [Area in keyof Api]: `${Area}.${keyof Api[Area] & string}` }[keyof Api]

/**
 * Where a value goes in the request: a member of the path, the query or the body, the whole body, or the filter of a list. A value of
 * `set:GROUP.OPERATION` is one of the operations of the body.
 */
export type Destination =
  | `params.${string}`
  | `query.${string}`
  | `body.${string}`
  | `set:${string}.${string}`
  | 'body'
  | 'filter'

/**
 * How the text of a value becomes the value.
 * - `number`, `list` (the input is repeated), `pairs` (NAME=VALUE, repeated), `json` and `text-file` (a file, or `-` for standard
 *   input)
 * - `value`: JSON, or else the text itself
 * - `secret`: a prompt or standard input gives it, because every user of the host can read arguments
 * - `connection`: as `secret` if it is `-`; else VMHOST_CONNECTION is the default
 * - `no`: an option without a value that means false
 * - `bytes`: the bytes of a file
 * - `changes`: GROUP.OPERATION [VALUE] [OPTION=VALUE …], repeated
 */
export type InputKind =
  | 'number'
  | 'list'
  | 'pairs'
  | 'json'
  | 'text-file'
  | 'value'
  | 'secret'
  | 'connection'
  | 'no'
  | 'bytes'
  | 'changes'

/** An argument or an option of a command. */
export interface Input {
  /** As the help shows it: `<name>` and `[name]` are arguments, `--name` and `--name <value>` are options. */
  readonly flag: string
  readonly to: Destination
  readonly about: string
  readonly kind?: InputKind
  /** The command does nothing without this option. Arguments say it by their brackets. */
  readonly required?: true
}

/** How a value of a reply is shown to people. */
export type Format = 'bytes' | 'megabytes' | 'time' | 'count' | 'percent' | 'pairs'

/** A column of a table: its head, where the value is in the reply, and how it is shown. */
export type Column = readonly [head: string, path: string, format?: Format]

/** A command that calls one operation. */
export interface CommandDefinition {
  /** Its words after those of the group; empty for the group itself. */
  readonly name: string
  readonly alias?: string
  readonly operation: OperationName
  readonly summary: string
  readonly inputs?: readonly Input[]
  /** Members of the request that every call has. */
  readonly fixed?: Readonly<Partial<Record<Destination, unknown>>>
  /** The operation runs as a job, whose progress is shown. */
  readonly asJob?: true
  /** The member of the reply that has the items of the list, if the reply is not the list itself. */
  readonly items?: string
  /** The columns of a list. */
  readonly columns?: readonly Column[]
  /** The rows of a record. Without columns and rows a reply is shown with all of its members. */
  readonly rows?: readonly Column[]
  /** What is printed instead of the reply. `{name}` is a member of the reply, or else an argument. */
  readonly says?: string
  /** The member of the reply that is printed as it is, with its line ends. */
  readonly prints?: string
  /** A member that the reply can have, and the value that it must have then: with any other one the command has failed. */
  readonly succeedsIf?: readonly [path: string, value: unknown]
  /** What is printed for an empty list. */
  readonly empty?: string
  /** The reply is a file, which goes to the option `--output` or to standard output. */
  readonly isFile?: true
}

/** Commands with a common first word. */
export interface CommandGroup {
  readonly name: string
  readonly commands: readonly CommandDefinition[]
  /** Summaries of the words that have commands of their own: `forwards` in `machines forwards add`. */
  readonly sections?: Readonly<Record<string, string>>
  /** What the service must have so that this process can do without a running service; left out where it must run. */
  readonly offline?: 'identity' | 'catalog'
}

export const filter: Input = {
  flag: '--filter <property=pattern>',
  to: 'filter',
  about: 'only items whose property matches the regular expression; end it with ,i for any case',
}

/** The option for the members of a request that have no option of their own. */
export const fromFile: Input = {
  flag: '--from-file <file>',
  to: 'body',
  kind: 'json',
  about: 'the request as JSON, from a file or - for standard input; options replace its members',
}
