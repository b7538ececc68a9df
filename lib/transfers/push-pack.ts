import { takeHold } from '#lib/packs/chunk-store/repository-lock.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { chunkTo } from './chunking.ts'
import { compressionOf } from './compression.ts'
import { withMachineFiles } from './pushed-files.ts'
import { packTo } from './packing.ts'
import type { Push } from './push-plan.ts'

/**
 * Packs the machine, or puts its chunks on the provider: it is lent for just that long. `held` holds the chunks, which
 * nobody may remove until the manifest leads to the list of them.
 */
export const packMachine = (
  { context, request, staging, work, folder }: Push,
  provider: Provider,
  held: AsyncDisposableStack,
) =>
  withMachineFiles(context, request, { staging, work }, async ({ type, files }, signal) => {
    const hold = request.chunked
      ? held.use(await takeHold(provider, 'write', signal, context.catalog.ownLocks))
      : undefined
    const compression = compressionOf(request)
    const size = files.reduce((all, file) => all + file.size, 0)
    work.begin('push_compress_stage')
    const following = {
      signal,
      onProgress: (done: number) => work.advance('push_compress_stage', done, size),
      note: (message: string) => work.setMessage('push_compress_stage', message),
    }
    const packed = hold
      ? await chunkTo(folder, files, { provider, hold }, following)
      : {
          ...(await packTo(folder, files, compression, { ...following, startWorker: context.startWorker })),
          chunkBytes: 0,
        }
    work.end('push_compress_stage')
    return { hold, type, files, size, packed, is_compressed: hold !== undefined || compression.kind !== 'none' }
  })

/** A machine that is packed on this host, or whose chunks are on the provider. */
export type PackedMachine = Awaited<ReturnType<typeof packMachine>>
