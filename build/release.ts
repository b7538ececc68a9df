/**
 * Writes a release of the executable that `npm run binary` has built for this computer into dist/release: the executable, an archive, a
 * Debian package, a container image, the list of what is in them, and the checksums of all.
 */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '#lib/compose/version.ts'
import { executableName } from './executable/build.ts'
import { checksumsFile, writeChecksums } from './executable/checksums.ts'
import { ownPlatform } from './executable/targets.ts'
import { createContainerImage } from './release/container-image.ts'
import { createDebianPackage } from './release/debian-package.ts'
import { compress, packFolder } from './release/pack-folder.ts'

const [from, folder] = ['dist/binary', 'dist/release']
const architectures: Readonly<Record<string, 'amd64' | 'arm64'>> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }

const architecture = architectures[ownPlatform]
if (architecture === undefined) throw new Error(`A release is made on ${Object.keys(architectures).join(' or ')}.`)

const name = executableName(ownPlatform)
const executable = join(from, name)
const licenses = join(from, `vmhost-${version}-licenses.txt`)
if (!existsSync(executable)) throw new Error(`There is no ${executable}; build it with: npm run binary`)

/** The time of the last commit, so that the same sources give the same release. */
const seconds = Number(execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8' }))

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const work = mkdtempSync(join(tmpdir(), 'vmhost-release-'))
try {
  const inWork = (part: string): string => {
    mkdirSync(join(work, part))
    return join(work, part)
  }
  const archive = inWork('archive')
  mkdirSync(join(archive, name))
  copyFileSync(executable, join(archive, name, 'vmhost'))
  copyFileSync(licenses, join(archive, name, 'licenses.txt'))
  for (const document of ['README.md', 'CHANGELOG.md', 'LICENSE']) copyFileSync(document, join(archive, name, document))
  writeFileSync(join(folder, `${name}.tar.gz`), compress(packFolder(archive, seconds)))
  const facts = { version, architecture, executable, seconds }
  writeFileSync(
    join(folder, `vmhost_${version}_${architecture}.deb`),
    createDebianPackage({ ...facts, licenses, work: inWork('deb') }),
  )
  writeFileSync(join(folder, `${name}.oci.tar`), createContainerImage({ ...facts, work: inWork('container') }))
} finally {
  rmSync(work, { recursive: true })
}
for (const file of [name, `vmhost-${version}.cdx.json`, `vmhost-${version}-licenses.txt`])
  copyFileSync(join(from, file), join(folder, file))
writeChecksums(folder)

for (const line of readFileSync(join(folder, checksumsFile), 'utf8').trim().split('\n')) {
  const file = line.slice(66)
  console.log(`${(statSync(join(folder, file)).size / 1e6).toFixed(1).padStart(8)} MB  ${join(folder, file)}`)
}
console.log(
  `Next:\n  cd ${folder} && sha256sum --check ${checksumsFile}\n  apt-get install ./vmhost_${version}_${architecture}.deb`,
)
