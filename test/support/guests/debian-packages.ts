import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Options of apt-get and apt-cache that name other package sources than those of the system. */
export type PackageSources = readonly string[]

/** Reads Debian's list of packages of another architecture into `folder`. The package sources of the system stay as they are. */
export const readForeignPackages = async (architecture: string, folder: string): Promise<PackageSources> => {
  const release = /^VERSION_CODENAME=(\w+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1]
  if (release === undefined) throw new Error('the release of Debian is not known')
  for (const name of ['state/lists/partial', 'cache/archives/partial'])
    await mkdir(join(folder, name), { recursive: true })
  const list = join(folder, 'sources.list')
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg'
  await writeFile(list, `deb [signed-by=${keys}] http://deb.debian.org/debian ${release} main\n`)
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Sandbox::User': 'root',
    'Dir::State': join(folder, 'state'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(folder, 'cache'),
    'Dir::Etc::sourcelist': list,
    'Dir::Etc::sourceparts': '/dev/null',
  }
  const sources = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await execute('apt-get', [...sources, '-qq', 'update'])
  return sources
}

/** Returns the package that a meta package such as `linux-image-amd64` stands for. */
export const resolveMetaPackage = async (name: string, sources: PackageSources = []): Promise<string> => {
  const { stdout } = await execute('apt-cache', [...sources, 'depends', name])
  const target = /^\s*Depends: (\S+)/m.exec(stdout)?.[1]
  if (target === undefined) throw new Error(`${name}: apt-cache names no package`)
  return target
}

/** Returns the libraries that a package needs, and those that these need. */
export const listLibraryPackages = async (name: string, sources: PackageSources = []): Promise<readonly string[]> => {
  const relations = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances']
  const exclusions = relations.map(one => `--no-${one}`)
  const { stdout } = await execute('apt-cache', [...sources, 'depends', '--recurse', ...exclusions, name])
  return stdout.split('\n').filter(line => line.startsWith('lib'))
}

/** Downloads packages of the package sources and unpacks them into `folder`. Nothing is installed. */
export const unpackPackages = async (
  packages: readonly string[],
  folder: string,
  sources: PackageSources = [],
): Promise<void> => {
  const downloads = await mkdtemp(join(tmpdir(), 'vmhost-packages-'))
  // As root, apt-get would switch to an account that may not write here.
  const options = ['-qq', ...sources, '-o', 'APT::Sandbox::User=root']
  try {
    await execute('apt-get', [...options, 'download', ...packages], { cwd: downloads })
    for (const file of await readdir(downloads)) await execute('dpkg-deb', ['-x', join(downloads, file), folder])
  } finally {
    await rm(downloads, { recursive: true })
  }
}
