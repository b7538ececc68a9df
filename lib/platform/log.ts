import { configure, getLogger, jsonLinesFormatter, type LogLevel, type LogRecord } from '@logtape/logtape'

/** What an area logs through: a message for people, and fields. Never a secret in either. */
export interface Log {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warning(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/** What the formatter would put in quotes of its own. */
const textOf = (message: LogRecord['message']): string => message.map(String).join('')

const listeners = new Set<(record: LogRecord) => void>()

/** Tells `listener` of every line of the log, until disposed. */
export const onLogLine = (listener: (line: { level: string; message: string; time: string }) => void): Disposable => {
  const tell = ({ level, message, timestamp }: LogRecord): void =>
    listener({ level, message: textOf(message), time: new Date(timestamp).toISOString() })
  listeners.add(tell)
  return { [Symbol.dispose]: () => void listeners.delete(tell) }
}

/** Sends the service's log as JSON lines to standard error. Called once, by the entry. */
export const openLog = async (lowestLevel: LogLevel): Promise<void> => {
  await configure({
    reset: true,
    sinks: {
      lines(record: LogRecord) {
        process.stderr.write(jsonLinesFormatter({ ...record, message: [textOf(record.message)] }))
        for (const tell of listeners) tell(record)
      },
    },
    loggers: [
      { category: 'vmhost', sinks: ['lines'], lowestLevel },
      { category: ['logtape', 'meta'], sinks: ['lines'], lowestLevel: 'warning' },
    ],
  })
}

/** The log of one area of the service. */
export const logOf = (area: string): Log => getLogger(['vmhost', area])
