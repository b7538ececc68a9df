import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { isChunkIndexObject } from '#lib/packs/chunk-store/index-object.ts'
import type { CatalogPart } from './context.ts'
import { pickRegistrationFields, registerImport } from './register-import.ts'
import type { ImportManifest } from './schemas.ts'
import type { ImportResult } from '#lib/catalog/schemas.ts'
import { createMissingObjectError, requirePack } from './require-pack.ts'
import type { ImportStep } from './steps.ts'

/**
 * Registers a pack that is on a provider beside its description. Throws `not-found` when pack or description is missing,
 * `conflict` when the catalog already has the manifest, and `invalid` for an object that is not the pack of the description.
 */
export const importManifest = (
  context: CatalogPart,
  caller: Principal,
  request: ImportManifest,
  progress: ProgressReporter<ImportStep>,
): Promise<ImportResult> => {
  const folder = request.catalog_id
  return registerImport(context, caller, { ...request, folder }, progress, async importFolder => {
    const { provider, name, metadataPath, metadata } = importFolder
    if (!metadata) throw createMissingObjectError('description', metadataPath)
    const fields = pickRegistrationFields(metadata)
    const describedFile = fields['pack_path']
    // A description may leave its pack out, which then has the name of the manifest.
    const file = typeof describedFile === 'string' && describedFile !== '' ? describedFile : `${name}.pdpack`
    const path = `${folder}/${file}`
    await importFolder.refuseHidden(path)
    const stored = await provider.stat(path, progress.signal)
    if (!stored) throw createMissingObjectError('pack', path)
    await requirePack(provider, stored, progress.signal)
    const describedSize = fields['pack_size']
    const isIndex = await isChunkIndexObject(provider, stored, progress.signal)
    if (!isIndex && typeof describedSize === 'number' && describedSize > 0 && describedSize !== stored.size)
      throw new ServiceError(
        'invalid',
        `${path} has ${stored.size} bytes, but its description says ${describedSize}. It is not the described pack.`,
      )
    // The size of a chunk index is not the size of its pack, which only the description has.
    return { file, fields: isIndex ? fields : { ...fields, pack_size: stored.size } }
  })
}
