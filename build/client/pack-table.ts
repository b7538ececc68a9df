/** Packs the table of operations, because every page that uses the client loads it. */
import { methods, type Row } from '#lib/client/table.ts'

/** How many segments two paths have in common at their beginnings. The last segment of a path is never one of them. */
const countShared = (segments: readonly string[], before: readonly string[]): number => {
  const at = segments.findIndex((segment, index) => segment !== before[index])
  return Math.min(at === -1 ? segments.length : at, segments.length - 1, 9)
}

/** The table as `readTable` of lib/client/table.ts reads it. Operations of one area are sorted by path, to share the most. */
export const packTable = (rows: readonly Row[]): string => {
  let before: readonly string[] = []
  const pack = ({ name, method, path }: Row): string => {
    const segments = path.slice(1).split('/')
    const shared = countShared(segments, before)
    before = segments
    const others = segments.slice(shared).join('/')
    return `${name}${methods.indexOf(method)}${shared}${others === name ? '' : others}`
  }
  return [...Map.groupBy(rows, ({ area }) => area)]
    .map(([area, own]) => [area, ...own.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map(pack)].join(' '))
    .join('\n')
}
