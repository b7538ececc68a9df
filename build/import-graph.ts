import { existsSync, readFileSync } from 'node:fs'
import type { Metafile } from 'esbuild'

/** What cannot work at the edge, though it may bundle and even start there. */
const hostOnly =
  /^node:(child_process|cluster|dgram|fs|fs\/promises|http|http2|https|inspector|os|readline|repl|sqlite|tls|v8|vm|worker_threads)$|\/node_modules\/(@hono\/node-server|ssh2|v86|ws)\//

/** The modules of which only some exports work at the edge. */
const partial: Readonly<Record<string, readonly string[]>> = {
  'node:net': ['BlockList', 'SocketAddress', 'isIP', 'isIPv4', 'isIPv6'],
}

/** Whether a source imports these values alone from a module, by their names. Types do not count: a bundle has none. */
const importsOnly = (source: string, module: string, allowed: readonly string[]): boolean => {
  const mentions = source.split(`'${module}'`).length + source.split(`"${module}"`).length - 2
  const imports = [...source.matchAll(/^import (type )?\{([^}]*)\} from ['"]([^'"]+)['"]/gm)].filter(
    ([, , , from]) => from === module,
  )
  const names = imports
    .filter(([, type]) => type === undefined)
    .flatMap(([, , list = '']) => list.split(',').map(name => name.trim().split(' as ')[0]!))
    .filter(name => name !== '' && !name.startsWith('type '))
  return imports.length > 0 && imports.length === mentions && names.every(name => allowed.includes(name))
}

/**
 * The shortest chain of imports from a file to a host-only module, or undefined where there is none.
 * Conservative on purpose: what the bundler would shake off counts, and so does a lazy import.
 */
export const chainToHost = (
  { inputs }: Metafile,
  from: string,
  // What the bundler made up is no file, and hides what is imported.
  readSource = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : ''),
): readonly string[] | undefined => {
  // A file that the bundle does not know would pass unseen.
  if (!inputs[from]) throw new Error(`${from} is not in the bundle, so its imports cannot be checked`)
  const isHostOnly = (file: string, importer: string): boolean => {
    const allowed = partial[file]
    return allowed ? !inputs[importer] || !importsOnly(readSource(importer), file, allowed) : hostOnly.test(file)
  }
  const queue: (readonly string[])[] = [[from]]
  const seen = new Set([from])
  for (const chain of queue) {
    const file = chain.at(-1)!
    for (const { path } of inputs[file]?.imports ?? []) {
      if (isHostOnly(path, file)) return [...chain, path]
      if (seen.has(path)) continue
      seen.add(path)
      queue.push([...chain, path])
    }
  }
  return undefined
}
