import { importMachine } from '../import-machine.ts'
import { importManifest } from '../import.ts'
import type { Transfers } from '../transfers.ts'
import type { HostedContext } from './context.ts'
import { pullThroughHost } from './pull.ts'
import { pushThroughHost } from './push.ts'

/** Creates the transfers that `load-on-demand.ts` describes. */
export const createHostedTransfers = (context: HostedContext): Transfers => ({
  push: (caller, request, progress, manager) => pushThroughHost(context, caller, request, progress, manager),
  pull: (caller, request, progress, manager) => pullThroughHost(context, caller, request, progress, manager),
  import: (caller, request, progress) => importManifest(context, caller, request, progress),
  importMachine: (caller, request, progress) => importMachine(context, caller, request, progress),
})
