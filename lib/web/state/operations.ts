/** Who may call an operation, as its contract says. */
export type OperationAccess =
  | string
  | {
      readonly roles?: readonly string[]
      readonly claims?: readonly string[]
      readonly anyClaim?: readonly string[]
    }

/** The command of an operation: its words, and each input with its place in the request, such as `body.name`. */
export interface OperationCommand {
  readonly words: string
  readonly inputs: readonly (readonly [flag: string, to: string, kind?: string])[]
}

/** The build puts the contracts of the served endpoints here, and the commands that call them. */
declare const OPERATION_ACCESS: Readonly<Record<string, OperationAccess>>
declare const OPERATION_COMMANDS: Readonly<Record<string, OperationCommand>>

/** The access of each operation that the service serves, by its name in the OpenAPI document. */
export const operationAccess = OPERATION_ACCESS

/** The command of each operation that has one of its own. */
export const operationCommands = OPERATION_COMMANDS
