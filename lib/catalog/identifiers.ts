/** Characters that names of the catalog cannot have, because they mean something to shells, URLs or file systems. */
const specialCharacters = /[ ,:;()[\]{}'"/\\|<>=+*&^%$#@!`~?]/g

/** The form in which catalog ids are stored and compared: lower case, with `_` for special characters. */
export const normalizeCatalogId = (text: string): string =>
  text.normalize('NFC').trim().replace(specialCharacters, '_').toLowerCase()

export const architectures = ['x86_64', 'arm64'] as const
export type Architecture = (typeof architectures)[number]

const aliases: Readonly<Record<string, Architecture>> = {
  amd64: 'x86_64',
  x64: 'x86_64',
  aarch64: 'arm64',
  arm: 'arm64',
}

/** Finds the architecture of a name or an alias, in any case; undefined for an unknown one. */
export const parseArchitecture = (name: string): Architecture | undefined => {
  const wanted = name.trim().toLowerCase()
  const alias = Object.hasOwn(aliases, wanted) ? aliases[wanted] : undefined
  return architectures.find(architecture => architecture === wanted) ?? alias
}

/** The types of machines that packs hold. */
export const machineTypes = ['pvm', 'macvm', 'qemu', 'embedded'] as const

/** The name of a manifest. The names of its objects begin with it. */
export const formatManifestName = (catalogId: string, architecture: string, version: string): string =>
  `${catalogId}-${architecture}-${version}`

/** Whether a normalized text can be part of a manifest's name: it is one segment of a path, and leaves room for the rest. */
export const isNamePart = (text: string): boolean =>
  /^(?!\.)[^\p{C}]+$/u.test(text) && !text.match(specialCharacters) && Buffer.byteLength(text) <= 100
