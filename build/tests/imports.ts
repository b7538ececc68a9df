import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const imported = /(?:^(?:import|export|\}).* from |^import |\bimport\()'([^']+)'/gm

/** What a file of the tests imports, itself and by way of other files of the tests: packages and modules of Node by their names, files by their paths. */
export const importsOf = (file: string, known = new Set<string>()): ReadonlySet<string> => {
  if (known.has(file)) return known
  known.add(file)
  for (const [, from] of readFileSync(file, 'utf8').matchAll(imported)) {
    const path = from!.startsWith('.') ? join(dirname(file), from!) : from!
    if (path.startsWith('test/') && existsSync(path)) importsOf(path, known)
    else known.add(path)
  }
  return known
}
