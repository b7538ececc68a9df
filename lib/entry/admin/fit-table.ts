import { styleText } from 'node:util'
import { escapeControls } from './text-table.ts'

/** A column is not made narrower than this, because nobody could read it. */
const narrowest = 8
const gap = '  '

/** Makes the widest columns narrower until a line fits, or all of them are narrow. */
const fitWidths = (widths: readonly number[], columns: number): readonly number[] => {
  const fitted = [...widths]
  const available = columns - gap.length * (widths.length - 1)
  for (let excess = fitted.reduce((sum, width) => sum + width, 0) - available; excess > 0; excess--) {
    const widest = fitted.indexOf(Math.max(...fitted))
    if ((fitted[widest] ?? 0) <= narrowest) break
    fitted[widest] = (fitted[widest] ?? 0) - 1
  }
  return fitted
}

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`)

interface TableOptions {
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Whether the cells of a column stand at its right. */
  readonly isRight: (column: number) => boolean
  /** Where the table goes. On a terminal its lines fit the width. In a pipe they stay whole, because a program may search them. */
  readonly output: NodeJS.WriteStream
}

/** Formats a table without its empty columns. The heads are bold on a terminal with styles. */
export const fitTable = ({ heads, rows, isRight, output }: TableOptions): string => {
  const shown = heads.map((_, column) => column).filter(column => rows.some(row => row[column] !== ''))
  const cells = [heads, ...rows].map(row => shown.map(column => escapeControls(row[column] ?? '')))
  const natural = shown.map((_, at) => Math.max(...cells.map(row => row[at]?.length ?? 0)))
  const widths = output.isTTY ? fitWidths(natural, output.columns || 80) : natural
  const lines = cells.map(row =>
    row
      .map((cell, at) => {
        const [text, width] = [cut(cell, widths[at] ?? 0), widths[at] ?? 0]
        return isRight(shown[at] ?? 0) ? text.padStart(width) : text.padEnd(width)
      })
      .join(gap)
      .trimEnd(),
  )
  const [head = '', ...body] = lines
  return [styleText('bold', head, { stream: output }), ...body].join('\n')
}
