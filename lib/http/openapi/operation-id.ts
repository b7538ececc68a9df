import type { Method, Path, Route } from '../endpoint.ts'

/** The segments of a path after the prefix that it shares with another path. */
const findOwnSegments = (path: string, other: string): readonly string[] => {
  const [own, others] = [path.split('/'), other.split('/')]
  const firstDifference = own.findIndex((segment, index) => segment !== others[index])
  return firstDifference === -1 ? [] : own.slice(firstDifference).map(segment => segment.replace(/[{}]/g, ''))
}

/**
 * The name of one operation: the route's id with dots, as `machines.start`. Another method or path of the same route
 * adds its own method or segments: `machines.start.put`, `catalog.show.version`.
 */
export const toOperationId = ({ id, endpoint }: Route, method: Method, path: Path): string =>
  [
    ...id.split('/'),
    ...(method === endpoint.method ? [] : [method.toLowerCase()]),
    ...findOwnSegments(path, endpoint.path),
  ].join('.')
