import type * as host from './log.ts'

// Takes the place of log.ts in the bundle of the edge. The library that log.ts uses would be a tenth of that bundle.

type Level = Parameters<typeof host.openLog>[0]

const levels: readonly Level[] = ['trace', 'debug', 'info', 'warning', 'error', 'fatal']
let lowest: Level = 'info'

const describe = (value: unknown): unknown =>
  value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value

const writeLine = (level: Level, area: string, message: string, fields: Record<string, unknown>): void => {
  if (levels.indexOf(level) < levels.indexOf(lowest)) return
  const text = message.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name]))
  const properties = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, describe(value)]))
  console.log(
    JSON.stringify({
      '@timestamp': new Date().toISOString(),
      level,
      message: text,
      logger: `vmhost.${area}`,
      properties,
    }),
  )
}

/** Calls nobody, because the platform shows the lines. */
export const onLogLine: typeof host.onLogLine = () => ({ [Symbol.dispose]: () => {} })

/** Writes the log of the service to the log of the platform, as JSON lines. */
export const openLog: typeof host.openLog = async lowestLevel => void (lowest = lowestLevel)

/** Returns the logger of one area of the service. */
export const getAreaLogger: typeof host.getAreaLogger = area => {
  const log =
    (level: Level): host.Logger['info'] =>
    (message, fields = {}) =>
      writeLine(level, area, message, fields)
  return { debug: log('debug'), info: log('info'), warning: log('warning'), error: log('error') }
}
