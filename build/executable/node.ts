import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ownPlatform, type Target } from './targets.ts'

/** Node for a platform, as its npm package has it. */
export interface NodePackage {
  readonly version: string
  readonly program: string
  readonly license: string
}

interface LockedPackage {
  readonly version: string
  readonly integrity: string
}

const readLocked = (name: string): LockedPackage => {
  // npm's format.
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>
  }
  const locked = packages[`node_modules/${name}`]
  if (!locked) throw new Error(`package-lock.json does not have ${name}.`)
  return locked
}

const describe = (folder: string, version: string): NodePackage => ({
  version,
  program: resolve(folder, 'bin/node'),
  license: readFileSync(join(folder, 'LICENSE'), 'utf8').trim(),
})

/** Throws if a file is not the one that package-lock.json names. */
export const assertIntegrity = (file: string, integrity: string): void => {
  const [algorithm = '', expected = ''] = integrity.split(/-(.*)/s)
  if (hash(algorithm, readFileSync(file), 'base64') !== expected)
    throw new Error(`${file} is not the package that package-lock.json names: its ${algorithm} differs.`)
}

/** Fetches the package of another platform, which `npm ci` does not install, and keeps it below node_modules/.cache. */
const fetchPackage = (name: string, { version, integrity }: LockedPackage): string => {
  const cache = resolve('node_modules/.cache/vmhost-node')
  const folder = join(cache, `${name}-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(cache, 'fetch-'))
  try {
    const args = ['pack', `${name}@${version}`, '--pack-destination', work, '--loglevel=error']
    execFileSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
    const archive = join(work, `${name}-${version}.tgz`)
    assertIntegrity(archive, integrity)
    execFileSync('tar', ['-xzf', archive, '-C', work, 'package/bin/node', 'package/LICENSE'])
    renameSync(join(work, 'package'), folder)
  } finally {
    rmSync(work, { recursive: true })
  }
  return folder
}

/** Finds the Node that the executable of a platform consists of: that of package-lock.json. */
export const findNode = ({ name, package: packageName }: Target): NodePackage => {
  const locked = readLocked(packageName)
  const installed = join('node_modules', packageName)
  const folder = name === ownPlatform && existsSync(installed) ? installed : fetchPackage(packageName, locked)
  return describe(folder, locked.version)
}
