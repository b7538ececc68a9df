import { configure, getLogger, jsonLinesFormatter, type LogLevel, type LogRecord } from '@logtape/logtape'

/** Logs messages for people, with fields. Neither may contain a secret. */
export interface Logger {
  debug(message: string, fields?: Record<string, unknown>): void
  info(message: string, fields?: Record<string, unknown>): void
  warning(message: string, fields?: Record<string, unknown>): void
  error(message: string, fields?: Record<string, unknown>): void
}

/** Joins the parts of a message. The formatter itself would put the values of fields in quotes. */
const joinMessage = (message: LogRecord['message']): string => message.map(String).join('')

const listeners = new Set<(record: LogRecord) => void>()

/** Calls `listener` for each line of the log, until disposed. */
export const onLogLine = (listener: (line: { level: string; message: string; time: string }) => void): Disposable => {
  const notify = ({ level, message, timestamp }: LogRecord): void =>
    listener({ level, message: joinMessage(message), time: new Date(timestamp).toISOString() })
  listeners.add(notify)
  return { [Symbol.dispose]: () => void listeners.delete(notify) }
}

/** Writes the log of the service to standard error, as JSON lines. The program calls it once, when it starts. */
export const openLog = async (lowestLevel: LogLevel): Promise<void> => {
  await configure({
    reset: true,
    sinks: {
      lines(record: LogRecord) {
        process.stderr.write(jsonLinesFormatter({ ...record, message: [joinMessage(record.message)] }))
        for (const notify of listeners) notify(record)
      },
    },
    loggers: [
      { category: 'vmhost', sinks: ['lines'], lowestLevel },
      { category: ['logtape', 'meta'], sinks: ['lines'], lowestLevel: 'warning' },
    ],
  })
}

/** Returns the logger of one area of the service. */
export const getAreaLogger = (area: string): Logger => getLogger(['vmhost', area])
