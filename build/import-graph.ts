import type { Metafile } from 'esbuild'

/** What cannot work at the edge, though it may bundle and even start there. */
const hostOnly =
  /^(node:)?(child_process|cluster|dgram|fs|fs\/promises|http|https|net|os|sqlite|tls|worker_threads)$|\/node_modules\/(@hono\/node-server|ssh2|v86|ws)\//

/**
 * The shortest chain of imports from a file to a host-only module, or undefined where there is none.
 * Conservative on purpose: what the bundler would shake off counts, and so does a lazy import.
 */
export const chainToHost = ({ inputs }: Metafile, from: string): readonly string[] | undefined => {
  // A file that the bundle does not know would pass unseen.
  if (!inputs[from]) throw new Error(`${from} is not in the bundle, so its imports cannot be checked`)
  const queue: (readonly string[])[] = [[from]]
  const seen = new Set([from])
  for (const chain of queue) {
    const file = chain.at(-1)!
    if (hostOnly.test(file)) return chain
    for (const { path } of inputs[file]?.imports ?? [])
      if (!seen.has(path)) {
        seen.add(path)
        queue.push([...chain, path])
      }
  }
  return undefined
}
