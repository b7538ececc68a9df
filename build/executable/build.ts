import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '#lib/compose/version.ts'
import type { Route } from '#lib/http/endpoint.ts'
import type { Exposure } from '#lib/http/exposure.ts'
import { licenseSeparator, licensesOf } from '../licenses.ts'
import { assemble } from './assemble.ts'
import { writeBillOfMaterials } from './bill-of-materials.ts'
import { bundleExecutable } from './bundle.ts'
import { writeChecksums } from './checksums.ts'
import { findNode } from './node.ts'
import { signForMacOs } from './sign.ts'
import { copyStripped } from './strip.ts'
import { findTarget, ownPlatform, type Target } from './targets.ts'

/** The file of the executable for a platform, in the folder of the build. */
export const executableName = (platform: string): string => `vmhost-${version}-${platform}`

/** What the build tells. */
export interface BuiltExecutable {
  readonly name: string
  readonly bytes: number
  readonly nodeBytes: number
  readonly codeBytes: number
  /** What was done about Node's symbols. */
  readonly symbols: string
  readonly isSigned: boolean | undefined
}

const sizeOf = (file: string): number => statSync(file).size

/** Removes what an earlier build left for this platform, signed or not, and what belongs to another version. */
const removeEarlier = (folder: string, target: Target): void => {
  const own = executableName(target.name)
  for (const name of readdirSync(folder))
    if (name === own || name === `${own}-unsigned` || !name.startsWith(`vmhost-${version}`)) rmSync(join(folder, name))
}

/**
 * Builds the executable of a platform into a folder, beside those of other platforms, with the licenses and the list of what is in
 * it, and the checksums of all.
 */
export const buildExecutable = async (
  folder: string,
  target: Target,
  routes: readonly Route[],
  builtFor: Exposure = { include: [], exclude: [] },
): Promise<BuiltExecutable> => {
  mkdirSync(folder, { recursive: true })
  removeEarlier(folder, target)
  const work = mkdtempSync(join(folder, '.work-'))
  try {
    const bundle = await bundleExecutable(routes, builtFor)
    const node = findNode(target)
    const builder = target.name === ownPlatform ? node : findNode(findTarget(ownPlatform))
    const base = join(work, 'node')
    const symbols = copyStripped(node.program, base, target)
    const output = join(work, executableName(target.name))
    assemble({ bundle, node: base, builder: builder.program, work, output })
    const isSigned = target.format === 'Mach-O' ? signForMacOs(output) : undefined
    const name = `${executableName(target.name)}${isSigned === false ? '-unsigned' : ''}`

    const nodeVersions = execFileSync(builder.program, ['--print', 'JSON.stringify(process.versions)'], {
      encoding: 'utf8',
    })
    const { metafile } = bundle
    const facts = { version, metafile, nodeVersion: node.version }
    // Node's format.
    const nodeLibraries = JSON.parse(nodeVersions) as Record<string, string>
    writeFileSync(join(folder, `vmhost-${version}.cdx.json`), writeBillOfMaterials({ ...facts, nodeLibraries }))
    writeFileSync(
      join(folder, `vmhost-${version}-licenses.txt`),
      [`node ${node.version}\n\n${node.license}`, licensesOf(metafile)].join(licenseSeparator),
    )
    renameSync(output, join(folder, name))
    return {
      name,
      bytes: sizeOf(join(folder, name)),
      nodeBytes: sizeOf(base),
      codeBytes: Object.entries(bundle.assets).reduce(
        (sum, [file, content]) => (file.endsWith('js') ? sum + content.length : sum),
        0,
      ),
      symbols,
      isSigned,
    }
  } finally {
    rmSync(work, { recursive: true })
    writeChecksums(folder)
  }
}
