import { packedTable } from './table.gen.ts'

/** Where an operation is served. */
export interface Row {
  readonly area: string
  readonly name: string
  readonly method: string
  /** With `{name}` for each parameter, and `{name?}` for one that may be left out with its slash. */
  readonly path: string
}

/** The methods by their number in the packed table; `SOCKET` is a GET that opens a WebSocket. */
export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'SOCKET']

/**
 * The rows of the packed table. It has a line for each area: the area, and then for each operation its name with its code.
 * A code is the number of the method, the number of segments that the path has in common with the one
 * before, and the other segments unless they are the name.
 */
export const readTable = (): readonly Row[] => {
  let segments: readonly string[] = []
  return packedTable.split('\n').flatMap(line => {
    const [area = '', ...operations] = line.split(' ')
    return operations.map(operation => {
      const [, name = '', method = 0, shared, others] = /(\D+)(\d)(\d)(.*)/.exec(operation) ?? []
      segments = [...segments.slice(0, Number(shared)), ...(others || name).split('/')]
      return { area, name, method: methods[Number(method)] ?? '', path: `/${segments.join('/')}` }
    })
  })
}
