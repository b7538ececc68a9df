import { createOutOfProcessGateway, type OutOfProcessGateway } from '#lib/events/out-of-process.ts'
import { openSocketPath } from '#lib/platform/local-socket.ts'
import { getAreaLogger } from '#lib/platform/log.ts'
import type { ProgramParts } from '#lib/platform/program-parts.ts'
import type { Config } from './config.ts'
import type { State } from './state.ts'

type Parts = Pick<State, 'store' | 'events'> & Pick<ProgramParts, 'eventsProcess'>

/** Opens the process that serves WebSockets. Its socket is removed with the resources. */
export const openEventsProcess = (
  config: Config,
  { eventsProcess, store, events }: Parts,
  resources: DisposableStack,
): OutOfProcessGateway =>
  createOutOfProcessGateway({
    program: eventsProcess,
    socket: resources.use(openSocketPath(config.state, 'events.sock')).path,
    events,
    reading: store.logAccess,
    log: getAreaLogger('events'),
  })
