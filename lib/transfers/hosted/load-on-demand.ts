import type { Transfers } from '../transfers.ts'
import type { HostedContext } from './context.ts'

/**
 * The transfers of a service without machines. Its hosts pack and unpack machines; its own catalog is that of all of them. An import
 * only reads what is on a provider, so no host takes part. Their code is loaded with the first transfer, because the start of the
 * edge loads everything else.
 */
export const createTransfersOnDemand = (context: HostedContext): Transfers => {
  let loading: Promise<Transfers> | undefined
  const load = async (): Promise<Transfers> => {
    const { createHostedTransfers } = await import('./transfers.ts')
    return createHostedTransfers(context)
  }
  const get = (): Promise<Transfers> => (loading ??= load())
  return {
    push: async (...call) => (await get()).push(...call),
    pull: async (...call) => (await get()).pull(...call),
    import: async (...call) => (await get()).import(...call),
    importMachine: async (...call) => (await get()).importMachine(...call),
  }
}
