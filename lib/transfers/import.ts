import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { isIndexObject } from '#lib/packs/chunk-store/index-object.ts'
import type { TransferContext } from './context.ts'
import { importFound, missing, taken } from './register-found.ts'
import type { ImportManifest } from './schemas.ts'
import type { ImportResult } from '#lib/catalog/schemas.ts'
import { requirePack } from './require-pack.ts'

/**
 * Takes a pack into the catalog that is on a provider together with its description. Throws `not-found` when one of them is
 * not there, `conflict` when the catalog has the manifest, and `invalid` for what is not the pack that was described.
 */
export const importManifest = (
  context: TransferContext,
  caller: Principal,
  request: ImportManifest,
  work: ProgressReporter,
): Promise<ImportResult> => {
  const folder = request.catalog_id
  return importFound(context, caller, { ...request, folder }, work, async place => {
    const { provider, name, metadataAt, before } = place
    if (!before) throw missing('description', metadataAt)
    const known = taken(before)
    const said = known['pack_path']
    const file = typeof said === 'string' && said !== '' ? said : `${name}.pdpack`
    await place.refuseHidden(`${folder}/${file}`)
    const found = await provider.stat(`${folder}/${file}`, work.signal)
    if (!found) throw missing('pack', `${folder}/${file}`)
    await requirePack(provider, found, work.signal)
    const stated = known['pack_size']
    const isIndex = await isIndexObject(provider, found, work.signal)
    if (!isIndex && typeof stated === 'number' && stated > 0 && stated !== found.size)
      throw new ServiceError(
        'invalid',
        `${folder}/${file} has ${found.size} bytes, and its description says ${stated}: it is not the pack that was described.`,
      )
    // Of a list of chunks only the description knows the size.
    const size = isIndex ? {} : { pack_size: found.size }
    return { file, fields: { ...known, ...size } }
  })
}
