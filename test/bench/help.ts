import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { median } from './load.ts'
import { stateWith } from './state.ts'
import { differenceRow, type Row } from './table.ts'

const rounds = 15

/** Milliseconds that Node takes to run a program to its end. */
const timeToEnd = (...args: readonly string[]): number => {
  const begun = performance.now()
  execFileSync(process.execPath, args, { env: { PATH: process.env['PATH'] } })
  return performance.now() - begun
}

/** How long the command line takes to show its help, against Node with an empty module, by turns. */
export const helpRow = (): Row => {
  const state = stateWith(0)
  try {
    const empty = join(state, 'empty.mjs')
    writeFileSync(empty, '')
    const taken = { help: [] as number[], empty: [] as number[] }
    for (let round = 0; round <= rounds; round += 1) {
      const help = timeToEnd(resolve('dist/vmhost.mjs'), '--help')
      const bare = timeToEnd(empty)
      // The first round fills caches.
      if (round === 0) continue
      taken.help.push(help)
      taken.empty.push(bare)
    }
    return differenceRow(
      'vmhost --help',
      { measured: median(taken.help), floor: median(taken.empty), unit: 'ms', digits: 0 },
      60,
    )
  } finally {
    rmSync(state, { recursive: true })
  }
}
