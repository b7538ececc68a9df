import { startHost } from './host.ts'
import type { Runtime } from './runtime.ts'

/** The bundle in a process of Node: what the other runtimes are compared with. */
export const node: Runtime = {
  name: 'node',
  absence: '',
  start: ({ driver } = { withHost: false }) => startHost({ driver }),
}
