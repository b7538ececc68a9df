import type { Client, EventOptions, StreamedEvent } from '#lib/client/types.ts'
import { formatValue } from '../definitions/format-value.ts'
import { escapeControls } from './text-table.ts'

interface FollowOptions {
  readonly since?: string
  /** Separated by commas. */
  readonly types?: string
  readonly json?: true
}

const formatEvent = ({ timestamp, event_type: type, message, body }: StreamedEvent): string =>
  [timestamp.slice(0, 19).replace('T', ' ').concat('Z'), type.padEnd(13), message.padEnd(20), formatValue(body)]
    .join('  ')
    .trimEnd()

/** Prints events as they happen. It ends with the refusal of the service alone. */
export const followEvents = async (client: Client, { since, types, json }: FollowOptions): Promise<void> => {
  const options = { since, types: types?.split(',') as EventOptions['types'] }
  for await (const event of client.events(options)) {
    const text = json
      ? JSON.stringify(event)
      : 'timestamp' in event
        ? formatEvent(event)
        : 'Some events are missing here, because they are not in the log any more.'
    process.stdout.write(`${escapeControls(text)}\n`)
  }
}
