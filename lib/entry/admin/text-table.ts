/**
 * Escapes control characters. A text that a client has sent, even in a refused request, must not move the cursor, forge lines or
 * control the operator's terminal.
 */
export const escapeControls = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Formats a time to the minute, for people. */
export const formatTime = (time: string): string => `${time.slice(0, 16).replace('T', ' ')}Z`

/** Formats data as JSON, for people and programs. */
export const formatJson = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split('\n').map(escapeControls).join('\n')

/**
 * Formats rows as text. Each column is as wide as its widest cell. `columns`, the width of a terminal, cuts longer lines.
 */
export const formatTable = (cells: readonly (readonly string[])[], columns = Infinity): string => {
  const rows = cells.map(row => row.map(escapeControls))
  const getWidth = (column: number): number => Math.max(...rows.map(row => row[column]?.length ?? 0))
  const widths = rows[0]?.map((_, column) => getWidth(column)) ?? []
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map(line => (line.length <= columns ? line : `${line.slice(0, columns - 1)}…`))
    .join('\n')
}
