import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

export interface Library {
  readonly name: string
  readonly data: Uint8Array
}

/**
 * Returns the shared libraries below `folder` that a program needs, and those that these need. The names stand as texts in the
 * dynamic section of each file.
 */
export const collectLibraries = (program: Uint8Array, folder: string): readonly Library[] => {
  const files = new Map(globSync(join(folder, '**/*.so.*')).map(file => [basename(file), file]))
  const libraries = new Map<string, Library>()
  const addNeeded = (data: Uint8Array): void => {
    for (const [, name = ''] of Buffer.from(data)
      .toString('latin1')
      .matchAll(/\0((?:lib|ld-)[\w+.-]+\.so\.\d+)(?=\0)/g)) {
      const file = files.get(name)
      if (file === undefined || libraries.has(name)) continue
      const library = { name, data: readFileSync(file) }
      libraries.set(name, library)
      addNeeded(library.data)
    }
  }
  addNeeded(program)
  return [...libraries.values()]
}
