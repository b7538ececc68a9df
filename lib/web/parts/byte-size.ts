const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const
const step = 1024

/** A number of bytes as people read it: 3 digits at most, with a unit. */
export const formatBytes = (bytes: number): string => {
  const power = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(step)), units.length - 1)
  const value = bytes / step ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`
}
