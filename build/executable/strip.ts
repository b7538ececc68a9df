import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import type { Target } from './targets.ts'

/**
 * Copies a program without its symbols, which are a fifth of Node. If no program here can do that, copies it as it is. Returns
 * what was done, for people.
 */
export const copyStripped = (from: string, to: string, { strip, name }: Target): string => {
  for (const program of strip) {
    const { status } = spawnSync(program, ['--strip-all', '-o', to, from], { stdio: 'ignore' })
    if (status === 0) return `without symbols, by ${program}`
  }
  copyFileSync(from, to)
  return strip.length === 0
    ? 'as it is'
    : `with its symbols, because no program here can remove them for ${name}: install ${strip[0]}`
}
