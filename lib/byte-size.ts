const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const

/** Bytes as people say them, in powers of a thousand: `1.3 GB`. */
export const formatByteSize = (bytes: number): string => {
  let value = bytes
  let unit = 0
  // 999.95 would be written 1000.0.
  while (value >= (unit === 0 ? 1000 : 999.95) && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
