import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { isChunkIndexObject } from '#lib/packs/chunk-store/index-object.ts'
import type { TransferContext } from './context.ts'
import { pickRegistrationFields, registerFound } from './register-import.ts'
import type { ImportManifest } from './schemas.ts'
import type { ImportResult } from '#lib/catalog/schemas.ts'
import { missingObject, requirePack } from './require-pack.ts'
import type { ImportStep } from './steps.ts'

/**
 * Registers a pack that is on a provider together with its description. Throws `not-found` when one of them is missing,
 * `conflict` when the catalog already has the manifest, and `invalid` for an object that is not the described pack.
 */
export const importManifest = (
  context: TransferContext,
  caller: Principal,
  request: ImportManifest,
  work: ProgressReporter<ImportStep>,
): Promise<ImportResult> => {
  const folder = request.catalog_id
  return registerFound(context, caller, { ...request, folder }, work, async importFolder => {
    const { provider, name, metadataPath, metadata } = importFolder
    if (!metadata) throw missingObject('description', metadataPath)
    const fields = pickRegistrationFields(metadata)
    const describedFile = fields['pack_path']
    const file = typeof describedFile === 'string' && describedFile !== '' ? describedFile : `${name}.pdpack`
    const path = `${folder}/${file}`
    await importFolder.refuseHidden(path)
    const stored = await provider.stat(path, work.signal)
    if (!stored) throw missingObject('pack', path)
    await requirePack(provider, stored, work.signal)
    const describedSize = fields['pack_size']
    const isIndex = await isChunkIndexObject(provider, stored, work.signal)
    if (!isIndex && typeof describedSize === 'number' && describedSize > 0 && describedSize !== stored.size)
      throw new ServiceError(
        'invalid',
        `${path} has ${stored.size} bytes, but its description says ${describedSize}. It is not the described pack.`,
      )
    // The size of a chunk index is not the size of its pack, which only the description has.
    return { file, fields: isIndex ? fields : { ...fields, pack_size: stored.size } }
  })
}
