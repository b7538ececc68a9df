/**
 * Writes docs/dependencies.md: what the program is bundled with, why, and how old it is. The dates are those that the
 * package registry tells; without it they are left out.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dependencyReasons, nodePackages } from './dependency-reasons.ts'
import { buildHost } from './host.ts'
import { packagesOf } from './licenses.ts'
import { readRoutes } from './table.ts'

interface Manifest {
  readonly version: string
  readonly license?: string
  readonly devDependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

/** npm's format. */
const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest

/** The day on which this version was published; empty where nobody says. */
const dayOf = (name: string, version: string): string => {
  try {
    const times = execFileSync('npm', ['view', name, 'time', '--json'], { encoding: 'utf8', stdio: 'pipe' })
    // npm's format: versions and their times.
    return (JSON.parse(times) as Record<string, string>)[version]?.slice(0, 10) ?? ''
  } catch {
    return ''
  }
}

const { devDependencies, optionalDependencies } = manifestIn('.')

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

const row = (name: string, why: string): string[] => {
  const { license = 'see its text' } = manifestIn(join('node_modules', name))
  const version = devDependencies[name]!
  return [`\`${name}\``, version, license, dayOf(name, version), why]
}

const folder = mkdtempSync(join(tmpdir(), 'vmhost-dependencies-'))
const bundled = packagesOf(await buildHost(folder, await readRoutes())).map(path => path.replace('node_modules/', ''))
rmSync(folder, { recursive: true })

const direct = Object.entries(dependencyReasons).map(([name, why]) => row(name, why))
const nodes = Object.entries(optionalDependencies)
  .filter(([name]) => nodePackages.test(name))
  .map(([name, version]) => [`\`${name}\``, version, 'MIT', dayOf(name, version)])
const brought = bundled
  .filter(path => !(path in dependencyReasons))
  .map(path => `\`${path.replaceAll('node_modules/', '')}\` ${manifestIn(join('node_modules', path)).version}`)

const head = ['package', 'version', 'license', 'published', 'why']
mkdirSync('docs', { recursive: true })
writeFileSync(
  'docs/dependencies.md',
  `# What the program is made of

Made by \`npm run dependencies\`; the reasons are in \`build/dependency-reasons.ts\`. The versions are exact, and the lock file holds the
digest of each package. All of this is bundled: an installed package depends on nothing but its Node, and no package that is
installed with it runs a script. The dates are what the registry told on ${new Date().toISOString().slice(0, 10)}; a mirror may have dates of its own.

${table(head, direct)}

## Node

The Node that the package brings along. Its security updates are security updates of the service: a new version of it is a new
version of the package.

${table(head.slice(0, 4), nodes)}

## Brought by these

What is in the bundle because one of the packages above needs it:

${brought.join(', ')}.

## A font

The glyphs in pictures of the screens of embedded machines are those of [Spleen](https://github.com/fcambus/spleen) 8x16, under the license
BSD-2-Clause. They are in \`lib/hypervisor/embedded/screen/spleen\`.
`,
)
console.log(`docs/dependencies.md: ${direct.length} packages, ${brought.length} that they brought.`)
