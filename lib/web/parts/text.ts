/** The text of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A time (ISO 8601) in the language of the browser; the text itself if it is no time. */
export const formatTime = (text: string): string => {
  const time = Date.parse(text)
  return Number.isNaN(time) ? text : timeFormat.format(time)
}

/** Names in one text. */
export const joinNames = (names: readonly string[]): string => names.join(', ')
