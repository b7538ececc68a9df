import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ExecutableBundle } from './bundle.ts'

interface Parts {
  readonly bundle: ExecutableBundle
  /** The Node that the executable is made of. */
  readonly node: string
  /** A Node of the same version that runs here. */
  readonly builder: string
  /** An empty folder for files in between. */
  readonly work: string
  readonly output: string
}

/** Has Node make one executable of itself and the bundle. */
export const assemble = ({ bundle, node, builder, work, output }: Parts): void => {
  const writeInput = (name: string, content: string | Uint8Array): string => {
    const file = join(work, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    return file
  }
  const configuration = {
    main: writeInput('main.mjs', bundle.main),
    mainFormat: 'module',
    executable: node,
    output,
    disableExperimentalSEAWarning: true,
    // Compiled code is of use to the main module alone, and that loads others (`lib/entry/asset-modules.ts`).
    useCodeCache: false,
    useSnapshot: false,
    // Neither arguments nor the environment change how Node runs.
    execArgvExtension: 'none',
    assets: Object.fromEntries(
      Object.entries(bundle.assets).map(([name, content]) => [name, writeInput(name, content)]),
    ),
  }
  execFileSync(builder, ['--build-sea', writeInput('sea.json', JSON.stringify(configuration))], { stdio: 'pipe' })
}
