import { writeFigures } from '../support/measured/write-figures.ts'
import type { Row } from './table.ts'

/** The document that says what each group measures, against which floor. */
export const document = 'docs/performance.md'

/** Writes the rows of a group into its section of the document. */
export const recordRows = (group: string, run: string, rows: readonly Row[]): void =>
  writeFigures(document, `### ${group}`, {
    run,
    heads: ['row', 'measured', 'floor', 'result', 'budget', 'outcome'],
    rows: rows.map(({ what, measured, floor, result, budget, kept }) => [
      ...[what, measured, floor, result, budget],
      kept ? 'kept' : '**missed**',
    ]),
  })
