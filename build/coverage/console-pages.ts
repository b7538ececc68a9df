import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readTable } from '#lib/client/table.ts'
import { importsOf } from '../boundaries.ts'

const pagesFile = 'lib/web/pages/pages.ts'
const shellFile = 'lib/web/main.tsx'

/** The name of what is around every page. */
const shell = 'every page'

const operations = new Set(readTable().map(({ area, name }) => `${area}.${name}`))

/** The files that a file of the console reaches by imports, itself included. What is on `borders` leads no further. */
const reach = (file: string, borders: ReadonlySet<string>): ReadonlySet<string> => {
  const reached = new Set([file])
  for (const next of reached)
    for (const imported of importsOf(next))
      if (imported.startsWith('lib/web/') && !borders.has(imported)) reached.add(imported)
  return reached
}

/** The operations that a source names: as a text, or as a call of the typed client. */
const findOperations = (file: string): readonly string[] =>
  [...readFileSync(file, 'utf8').matchAll(/['"](\w+\.\w+)['"]|client\.api\.(\w+\.\w+)\(/g)]
    .map(([, text, call]) => text ?? call!)
    .filter(name => operations.has(name))

/** The titles of the pages with the files of their components. */
const readPages = (): readonly (readonly [title: string, files: readonly string[]])[] => {
  const source = readFileSync(pagesFile, 'utf8')
  const files = new Map(
    [...source.matchAll(/^import \{ (\w+) \} from '(\.\.?\/[^']+)'/gm)].map(([, name, from]) => [
      name!,
      join(dirname(pagesFile), from!),
    ]),
  )
  const rows = [...source.matchAll(/title: '([^']+)'[^}]*?list: (\w+)(?:,\s*detail: (\w+))?/g)]
  if (rows.length === 0) throw new Error(`${pagesFile} has no pages that build/coverage/console-pages.ts can read.`)
  return rows.map(([, title, list, detail]) => [
    title!,
    [list, detail].flatMap(component => (component === undefined ? [] : files.get(component)!)),
  ])
}

/** The pages of the web console that call each operation. */
export const findPages = (): ReadonlyMap<string, readonly string[]> => {
  const borders = new Set([pagesFile])
  const around = reach(shellFile, borders)
  const pairs = [
    ...[...around].flatMap(findOperations).map(operation => [operation, shell] as const),
    ...readPages().flatMap(([title, components]) =>
      components
        .flatMap(component => [...reach(component, borders)])
        .filter(file => !around.has(file))
        .flatMap(findOperations)
        .map(operation => [operation, title] as const),
    ),
  ]
  return new Map(
    [...Map.groupBy(pairs, ([operation]) => operation)].map(([operation, found]) => [
      operation,
      [...new Set(found.map(([, page]) => page))],
    ]),
  )
}
