import { readFileSync } from 'node:fs'
import { writeFigures } from '../support/measured/write-figures.ts'
import { document } from './record.ts'

/** Rows of what other systems do not have. */
const own = /^(?:a claim of|a fork |the pause of a guest that uses 512|replay of|first reply|memory with 1,000)/

/** The most that other programs may do while the rows of the README are measured: more of it makes every row miss its budget. */
const mostLoad = 2

interface Measured {
  readonly day: string
  readonly rows: readonly (readonly string[])[]
}

/** The tables of a document that were measured on a computer that did little else. */
const readTables = (text: string): readonly Measured[] =>
  text
    .split(/^(?=Measured on )/m)
    .map(part => ({ part, run: /^Measured on (\S+), .* load before ([\d.]+):/.exec(part) }))
    .filter(({ run }) => run !== null && Number(run[2]) <= mostLoad)
    .map(({ part, run }) => ({
      day: run![1]!,
      rows: [...part.matchAll(/^\| (.*\| (?:kept|\*\*missed\*\*)) \|$/gm)].map(([, cells]) => cells!.split(' | ')),
    }))

/**
 * Writes the rows that a reader asks for first into the README: what only this program has, and all that miss their budget. Of runs on
 * a busy computer it writes nothing.
 */
export const writeSummary = (): void => {
  const tables = readTables(readFileSync(document, 'utf8'))
  const rows = tables.flatMap(table => table.rows)
  if (rows.length === 0) return
  const isMissed = (cells: readonly string[]): boolean => cells.at(-1) !== 'kept'
  const days = tables.map(({ day }) => day).toSorted()
  writeFigures('README.md', '## What it costs', {
    run: `Measured on ${days.at(-1)!} or before: ${rows.filter(isMissed).length} of ${rows.length} rows miss their budget. Here are these, and those of what other systems do not have`,
    heads: ['row', 'measured', 'floor', 'budget', 'outcome'],
    rows: rows
      .filter(cells => isMissed(cells) || own.test(cells[0]!))
      .map(([what = '', measured = '', floor = '', , budget = '', outcome = '']) => [
        what,
        measured,
        floor,
        budget,
        outcome,
      ]),
  })
}
