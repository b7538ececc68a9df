import { readFileSync } from 'node:fs'
import { writeFigures } from '../support/measured/write-figures.ts'
import { document } from './record.ts'

/** Rows of what other systems do not have. */
const own = /^(?:a claim of|a fork |the pause of a guest that uses 512|replay of|first reply|memory with 1,000)/

/** The rows of the tables in a document, by their cells. */
const readRows = (text: string): readonly (readonly string[])[] =>
  [...text.matchAll(/^\| (.*) \|$/gm)]
    .map(([, cells]) => cells!.split(' | '))
    .filter(cells => /^(?:kept|\*\*missed\*\*)$/.test(cells.at(-1) ?? ''))

/** Writes the rows that a reader asks for first into the README: what only this program has, and all that miss their budget. */
export const writeSummary = (): void => {
  const text = readFileSync(document, 'utf8')
  const days = [...text.matchAll(/^Measured on (\d{4}-\d{2}-\d{2})/gm)].map(([, day]) => day!).toSorted()
  const loads = [...text.matchAll(/^Measured on .* load before (\d+\.\d)/gm)].map(([, load]) => Number(load))
  const rows = readRows(text)
  const isMissed = (cells: readonly string[]): boolean => cells.at(-1) !== 'kept'
  const missed = rows.filter(isMissed).length
  writeFigures('README.md', '## What it costs', {
    run: `Measured on ${days.at(-1) ?? 'no day'} or before, under a load of others of up to ${Math.max(...loads).toFixed(1)}; ${missed} of ${rows.length} rows miss their budget`,
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
