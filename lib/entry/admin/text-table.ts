/**
 * A text whose control characters are written out: what strangers sent (also in a refused request) must not move the
 * cursor, forge lines or give orders to the operator's terminal.
 */
export const visible = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** To the minute: a list is looked at by people. */
export const timeText = (time: string): string => `${time.slice(0, 16).replace('T', ' ')}Z`

/** Data as JSON for people and programs. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, undefined, 2).split('\n').map(visible).join('\n')

/** Rows as text, in columns as wide as their widest cell. */
export const tableText = (given: readonly (readonly string[])[]): string => {
  const rows = given.map(row => row.map(visible))
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map(row => row[column]!.length)))
  return rows
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
