import type { Principal } from '#lib/auth/principal.ts'
import type { Work } from '#lib/work.ts'
import { isListPath } from '../chunks/list-object.ts'
import type { TransferContext } from './context.ts'
import { importFound, missing, taken } from './import-found.ts'
import type { ImportManifest, ImportResult } from './requests.ts'

const list = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/**
 * Takes a pack into the catalog that is on a provider together with its description. Throws `not-found` when one of them is
 * not there, `conflict` when the catalog has the manifest.
 */
export const importManifest = (
  context: TransferContext,
  caller: Principal,
  request: ImportManifest,
  work: Work,
): Promise<ImportResult> => {
  const folder = request.catalog_id
  return importFound(context, caller, { ...request, folder }, work, async ({ provider, name, metadataAt, before }) => {
    if (!before) throw missing('description', metadataAt)
    const { pack_path: said, tags } = before
    const file = typeof said === 'string' && said !== '' && !said.includes('/') ? said : `${name}.pdpack`
    const found = await provider.stat(`${folder}/${file}`, work.signal)
    if (!found) throw missing('pack', `${folder}/${file}`)
    // Of a list of chunks only the description knows the size.
    const size = isListPath(file) ? {} : { pack_size: found.size }
    return { file, fields: { ...taken(before), tags: list(tags), ...size } }
  })
}
