import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists } from '#lib/platform/files.ts'
import { openFile, type OpenFile, readStateFile } from '#lib/platform/open-file.ts'
import { buildSeedImage, type Seed } from './seed.ts'

/** The CD-ROM that the guest reads. A machine with this file in its folder has a seed. */
const seedImage = 'cloud-init.iso'
/** What the CD-ROM is made of, kept so that a clone gets one of its own. */
const seedSource = 'cloud-init.json'
/** More bytes than the longest seed that a request can have, with all its characters escaped. */
const maxSourceSize = 8 * 2 ** 20

/**
 * Writes the files of a machine's seed into its folder, readable by the service alone: they may contain passwords. They are no
 * part of the definition, so that neither records nor exports contain them.
 */
export const writeSeed = async (
  folder: string,
  seed: Seed,
  machine: { readonly id: string; readonly name: string },
): Promise<void> => {
  await writeFile(join(folder, seedSource), JSON.stringify(seed), { mode: 0o600 })
  await writeFile(join(folder, seedImage), buildSeedImage(seed, machine), { mode: 0o600 })
}

/** Writes the seed of the machine in `home`, if it has one, for a clone of it. */
export const copySeed = async (
  home: string,
  folder: string,
  clone: { readonly id: string; readonly name: string },
): Promise<void> => {
  const text = await readStateFile(join(home, seedSource), maxSourceSize)
  if (text !== undefined) await writeSeed(folder, JSON.parse(text), clone)
}

/** Opens the CD-ROM of the machine in `home`. Returns undefined if the machine has no seed. */
export const openSeed = async (home: string): Promise<OpenFile | undefined> => {
  const path = join(home, seedImage)
  return (await exists(path)) ? openFile(path) : undefined
}

/** Deletes the seed of the machine in `home`. Returns false if it has none. */
export const deleteSeed = async (home: string): Promise<boolean> => {
  const hadSeed = await exists(join(home, seedImage))
  // The image last: as long as it is there, a call that was interrupted can be made again.
  for (const name of [seedSource, seedImage]) await rm(join(home, name), { force: true })
  return hadSeed
}
