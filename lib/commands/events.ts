import type { CommandGroup } from './definition.ts'

/** The commands of `vmhost events` beside the stream. */
export const events: CommandGroup = {
  name: 'events',
  commands: [
    {
      name: 'list',
      alias: 'ls',
      operation: 'events.list',
      summary: 'List stored events, oldest first',
      inputs: [
        { flag: '--since <cursor>', to: 'query.since', about: 'only events after this cursor' },
        { flag: '--types <types>', to: 'query.types', about: 'types of events, separated by commas' },
        { flag: '--limit <number>', to: 'query.limit', kind: 'number', about: 'the most events to list' },
      ],
      items: 'events',
      columns: [
        ['TIME', 'timestamp'],
        ['TYPE', 'event_type'],
        ['EVENT', 'message'],
        ['ABOUT', 'body', 'pairs'],
        ['CURSOR', 'cursor'],
      ],
      empty: 'There are no events.',
    },
    {
      name: 'clients',
      operation: 'events.clients',
      summary: 'List the WebSockets that receive events',
    },
    { name: 'stats', operation: 'events.stats', summary: 'Count the subscribers and the events' },
    {
      name: 'unsubscribe',
      operation: 'events.unsubscribe',
      summary: 'End the subscription of a WebSocket to types of events',
      inputs: [
        { flag: '<client>', to: 'body.client_id', about: 'id of the WebSocket, from its first message' },
        { flag: '<types...>', to: 'body.event_types', kind: 'list', about: 'types of events' },
      ],
    },
  ],
}
