import { hash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The name of the file with the checksums of all files beside it, which `sha256sum --check` reads. */
export const checksumsFile = 'SHA256SUMS'

/** Writes the checksums of all files of a folder into it. */
export const writeChecksums = (folder: string): void => {
  const lines = readdirSync(folder)
    .filter(name => name !== checksumsFile)
    .sort()
    .map(name => `${hash('sha256', readFileSync(join(folder, name)))}  ${name}\n`)
  writeFileSync(join(folder, checksumsFile), lines.join(''))
}
