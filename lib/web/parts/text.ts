/** The text of anything that was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** A number of bytes for people: three digits and a unit. */
export const formatBytes = (bytes: number): string => {
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A time (ISO 8601) in the language of the browser; the text itself if it is no time. */
export const formatTime = (text: string): string => {
  const time = Date.parse(text)
  return Number.isNaN(time) ? text : timeFormat.format(time)
}
