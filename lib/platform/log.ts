import { configure, getLogger, jsonLinesFormatter, type LogLevel, type LogRecord } from '@logtape/logtape'

/** What an area logs through: a message for people, and fields. Never a secret in either. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warning(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/** Sends the service's log as JSON lines to standard error. Called once, by the entry. */
export const openLog = async (lowestLevel: LogLevel): Promise<void> => {
  await configure({
    reset: true,
    sinks: { lines: (record: LogRecord) => process.stderr.write(jsonLinesFormatter(record)) },
    loggers: [
      { category: 'vmhost', sinks: ['lines'], lowestLevel },
      { category: ['logtape', 'meta'], sinks: ['lines'], lowestLevel: 'warning' },
    ],
  })
}

/** The log of one area of the service. */
export const logOf = (area: string): Log => getLogger(['vmhost', area])
