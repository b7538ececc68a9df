import { readTable, type Row } from '#lib/client/table.ts'
import { client } from './service.ts'
import { createStore } from './store.ts'

/** A call of one operation, as data: the page can make it, and show how others make it. */
export interface OperationCall {
  /** Its name in the OpenAPI document, such as `machines.start`. */
  readonly operation: string
  readonly params?: Readonly<Record<string, string | undefined>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  /** Runs as a job: the reply is the job. */
  readonly async?: true
}

type Operations = Record<string, Record<string, (request: unknown) => Promise<unknown>>>

const rows = new Map(readTable().map(row => [`${row.area}.${row.name}`, row]))

/** The row of an operation in the table of the client. */
export const findRow = (operation: string): Row => {
  const row = rows.get(operation)
  if (!row) throw new Error(`There is no operation ${operation}.`)
  return row
}

/**
 * The area of the last call of this page that has succeeded. Lists of it are read again, since not every user gets the events of every
 * change that they make.
 */
export const lastCall = createStore<{ readonly area: string } | undefined>(undefined)

/** Makes a call, and gives the reply. Throws the refusal of the service. */
export const makeCall = async ({ operation, ...request }: OperationCall): Promise<unknown> => {
  const { area, name } = findRow(operation)
  // The names are those of the client's table.
  const reply = await (client.api as unknown as Operations)[area]![name]!(request)
  lastCall.set({ area })
  return reply
}
