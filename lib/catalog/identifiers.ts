/** Characters that names of the catalog do not have: they mean something to shells, addresses or file systems. */
const special = /[ ,:;()[\]{}'"/\\|<>=+*&^%$#@!`~?]/g

/** A catalog id as it is kept and looked up, in one spelling for all that mean the same. */
export const normalCatalogId = (text: string): string =>
  text.normalize('NFC').trim().replace(special, '_').toLowerCase()

export const architectures = ['x86_64', 'arm64'] as const
export type Architecture = (typeof architectures)[number]

const aliases: Readonly<Record<string, Architecture>> = {
  amd64: 'x86_64',
  x64: 'x86_64',
  aarch64: 'arm64',
  arm: 'arm64',
}

/** The architecture that a name means, in any case; undefined for none. */
export const architectureOf = (name: string): Architecture | undefined => {
  const wanted = name.trim().toLowerCase()
  return architectures.find(one => one === wanted) ?? aliases[wanted]
}

/** Types of machines that packs hold. */
export const machineTypes = ['pvm', 'macvm', 'qemu', 'embedded'] as const

/** The name of a manifest, which its files have as well. */
export const manifestName = (catalogId: string, architecture: string, version: string): string =>
  `${catalogId}-${architecture}-${version}`

/** Whether a text can be part of the name of a manifest once it is normal: one segment of a path, with room for the rest. */
export const fitsName = (text: string): boolean =>
  /^(?!\.)[^\p{C}]+$/u.test(text) && !text.match(special) && Buffer.byteLength(text) <= 100
