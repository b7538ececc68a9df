import { globSync, statSync } from 'node:fs'

/** Returns true if a built file is newer than all sources. */
export const isFresh = (file: string): boolean => {
  const built = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = globSync(['lib/**/*', 'functions/**/*', 'build/**/*', 'package-lock.json'])
  return sources.every(source => statSync(source).mtimeMs < built)
}
