import { fileURLToPath } from 'node:url'
import { createOutOfProcessGateway, type OutOfProcessGateway } from '#lib/events/out-of-process.ts'
import { openSocketPath } from '#lib/platform/local-socket.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import type { Config } from './config.ts'
import type { State } from './state.ts'

interface Parts extends Pick<State, 'store' | 'events'> {
  /** The file of the program. The file of the events process is in the same folder. */
  readonly entry: URL
}

/** Opens the process that serves WebSockets. Its socket is removed with the resources. */
export const openEventsProcess = (
  config: Config,
  { entry, store, events }: Parts,
  resources: DisposableStack,
): OutOfProcessGateway =>
  createOutOfProcessGateway({
    program: fileURLToPath(new URL('events.mjs', entry)),
    socket: resources.use(openSocketPath(config.state, 'events.sock')).path,
    events,
    reading: store.logAccess,
    log: getAreaLogger('events'),
  })
