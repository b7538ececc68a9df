import { isFault, messageOf } from '#lib/errors.ts'
import { createProviderTimeLimit } from '#lib/catalog/provider-limit.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import type { packedEarlier } from './packing.ts'
import type { Push } from './push-plan.ts'
import type { Published } from './publish.ts'
import { type Before, packEnds, packName, sweepPacks } from './pushed-objects.ts'

/** What of a push was on the provider before it, and nothing leads to any more. */
interface Left {
  readonly before: Before | undefined
  /** The pack of an earlier try: the machine may have been changed after it. */
  readonly earlier: Awaited<ReturnType<typeof packedEarlier>>
}

const remove = async (
  { request, architecture, name, target }: Push,
  provider: Provider,
  { registered, packAt, sha256 }: Published,
  { before, earlier }: Left,
  signal: AbortSignal,
): Promise<void> => {
  // What another host has registered by now is not left of an earlier push.
  const after = await target.before(request, architecture, signal).catch(() => undefined)
  if (!after || !['', sha256].includes(after.pack_sha256)) return
  const folder = request.catalog_id
  const keeps = await target.others(registered)
  const earlierAt = earlier ? packEnds.map(end => `${folder}/${packName(name, earlier.digest, before, end)}`) : []
  for (const path of earlierAt) if (path !== packAt && !(await keeps(path))) await provider.remove(path, signal)
  await sweepPacks(provider, { folder, name, kept: packAt, keeps }, signal)
}

/** Removes what is left. The push is done: what cannot be removed, as in a registry that forbids it, is told to the log. */
export const cleanUp = async (
  push: Push,
  provider: Provider,
  published: Published,
  left: Left,
  signal: AbortSignal,
): Promise<void> => {
  push.work.begin('cleaning_up')
  try {
    using limited = createProviderTimeLimit(signal)
    await remove(push, provider, published, left, limited.signal)
  } catch (error) {
    if (signal.aborted || isFault(error, 'unavailable')) throw error
    push.context.warn(`What ${push.name} replaces could not be removed from its provider: ${messageOf(error)}`)
  }
  push.work.end('cleaning_up')
}
