import { readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { Plugin } from 'esbuild'
import type { Route } from '#lib/http/endpoint.ts'
import type { Services } from '#lib/compose/services.ts'

/** A part of the program that only the endpoints of some services need, with the files through which the program reaches it. */
interface Part {
  readonly services: readonly (keyof Services)[]
  readonly files: readonly string[]
}

const parts = {
  ssh: { services: ['ssh'], files: ['lib/compose/open-ssh.ts'] },
  drivers: {
    // Packs are made of machines, and machines of packs.
    services: ['machines', 'transfers'],
    files: ['lib/compose/open-driver.ts', 'lib/hypervisor/embedded/worker.ts'],
  },
} as const satisfies Record<string, Part>

/** Returns true if one of these routes needs a part. */
export const needsPart = (routes: readonly Route[], name: keyof typeof parts): boolean => {
  const { services }: Part = parts[name]
  return routes.some(({ endpoint }) => endpoint.uses.some(service => services.includes(service)))
}

const absentFile = (file: string): string => file.replace(/\.ts$/, '.absent.ts')

/**
 * Leaves out the parts that none of these routes needs, with their libraries: `X.absent.ts` takes the place of each of their files
 * `X.ts`.
 */
export const withoutUnusedParts = (routes: readonly Route[]): Plugin => {
  const names = Object.keys(parts) as (keyof typeof parts)[]
  const absent = new Set<string>(names.filter(name => !needsPart(routes, name)).flatMap(name => parts[name].files))
  return {
    name: 'without-unused-parts',
    setup({ onLoad }) {
      onLoad({ filter: /\/(open-\w+|worker)\.ts$/ }, ({ path }) =>
        absent.has(relative(process.cwd(), path))
          ? { contents: readFileSync(absentFile(path), 'utf8'), loader: 'ts', resolveDir: dirname(path) }
          : undefined,
      )
    },
  }
}
