/** Who may call an operation, as its contract says. */
export type OperationAccess =
  | string
  | {
      readonly roles?: readonly string[]
      readonly claims?: readonly string[]
      readonly anyClaim?: readonly string[]
    }

/** The build puts the contracts of the served endpoints here. */
declare const OPERATION_ACCESS: Readonly<Record<string, OperationAccess>>

/** The access of each operation that the service serves, by its name in the OpenAPI document. */
export const operationAccess = OPERATION_ACCESS
