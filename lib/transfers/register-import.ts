import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { describeFirstMistake } from '#lib/schema-errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { toLockKey } from '#lib/catalog/changes.ts'
import { parseConnection, type Storage, parseStorage } from '#lib/objects/port/connection.ts'
import { readMetadata, toReplacedVersion, writeMetadata } from '#lib/catalog/metadata.ts'
import { formatManifestName } from '#lib/catalog/identifiers.ts'
import { refuseHidden } from '#lib/catalog/owners.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { refuseNewHiddenObjects, findReplaced, applyRegistration, registerManifest } from '#lib/catalog/register.ts'
import { type ImportResult, RegisterManifest } from '#lib/catalog/schemas.ts'
import { toManifestView } from '#lib/catalog/view.ts'
import { undoAfterFailure } from '#lib/catalog/undo.ts'
import type { CatalogPart } from './context.ts'
import type { ImportManifest } from './schemas.ts'
import { importPlan, type ImportStep } from './steps.ts'

const parseImportStorage = ({ connection, provider_metadata: settings }: ImportManifest): Storage => {
  const { service, storage } = parseConnection(connection)
  if (service)
    throw new ServiceError(
      'invalid',
      'The connection names another catalog. An import registers a pack in this catalog, so name only its provider.',
    )
  if (!storage) throw new ServiceError('invalid', 'The connection names no provider.')
  return parseStorage(storage.type, { ...storage.meta, ...settings })
}

type Metadata = Readonly<Record<string, unknown>>

/**
 * Picks the members of a description that are valid in a registration, and ignores the others. Throws `upstream` when the
 * claims or roles are invalid, because nobody knows then who may see the manifest.
 */
export const pickRegistrationFields = (metadata: Metadata): Record<string, unknown> => {
  const fields = RegisterManifest.shape
  const picked = Object.entries(metadata).filter(([key, value]) => {
    if (!Object.hasOwn(fields, key) || key === 'provider') return false
    // `Object.hasOwn` said that it is one.
    const { success } = fields[key as keyof typeof fields].safeParse(value)
    if (!success && (key === 'required_claims' || key === 'required_roles'))
      throw new ServiceError('upstream', `The description on the provider has invalid ${key}.`)
    return success
  })
  return Object.fromEntries(picked)
}

const parseRegistration = (fields: object): RegisterManifest => {
  const { data, error } = RegisterManifest.safeParse(fields)
  if (data) return data
  throw new ServiceError('invalid', `What is on the provider cannot be a manifest: ${describeFirstMistake(error)}.`)
}

/** The folder on the provider in which an import looks for a pack. */
interface ImportFolder {
  readonly provider: Provider
  /** The name of the manifest. */
  readonly name: string
  readonly metadataPath: string
  /** The description on the provider, if there is one. */
  readonly metadata: Metadata | undefined
  /** Called before an object is read. Throws `forbidden` for an object of a manifest that the caller may not see. */
  refuseHidden(path: string): Promise<void>
}

interface FoundPack {
  /** The name of the pack or of the bundle in the folder. */
  readonly file: string
  /** The members of the registration, except those that say where the pack is. */
  readonly fields: Metadata
  /** Creates the new description. The description on the provider does not change when this is left out. */
  readonly createMetadata?: (registration: RegisterManifest) => object
}

/**
 * Registers what `findPack` finds in a folder of the provider and writes its description there. Throws `conflict` when the
 * catalog already has the manifest, and what `findPack` and the provider throw. After an error nothing has changed.
 */
export const registerImport = async (
  { catalog }: CatalogPart,
  caller: Principal,
  request: ImportManifest & { readonly folder: string },
  progress: ProgressReporter<ImportStep>,
  findPack: (folder: ImportFolder) => Promise<FoundPack>,
): Promise<ImportResult> => {
  progress.plan(importPlan)
  progress.begin('import_check_stage')
  const { catalog_id, version, architecture, folder } = request
  const storage = parseImportStorage(request)
  const name = formatManifestName(catalog_id, architecture, version)
  const metadataPath = [folder, `${name}.meta`].filter(segment => segment !== '').join('/')
  const register = async (): Promise<ImportResult> => {
    if (findReplaced(catalog, caller, request)) throw new ServiceError('conflict', `The catalog has ${name} already.`)
    const provider = await catalog.storages.open(storage)
    const metadata = await readMetadata(provider, metadataPath, progress.signal)
    const { file, fields, createMetadata } = await findPack({
      provider,
      name,
      metadataPath,
      metadata: metadata?.fields,
      refuseHidden: path => refuseHidden(catalog, caller, storage, [path]),
    })
    const metadataId = z.uuid().safeParse(fields['id']).data
    const registration = parseRegistration({
      ...fields,
      id: metadataId && !catalog.inventory.get(metadataId) ? metadataId : crypto.randomUUID(),
      catalog_id,
      version,
      architecture,
      provider: storage,
      path: `/${folder}`,
      pack_path: undefined,
      pack_filename: file,
      metadata_path: undefined,
      metadata_filename: `${name}.meta`,
    })
    await refuseNewHiddenObjects(
      catalog,
      caller,
      applyRegistration(registration, undefined, { at: catalog.clock.next() }),
    )
    progress.end('import_check_stage')
    progress.begin('import_register_stage')
    if (createMetadata)
      await writeMetadata(
        provider,
        metadataPath,
        createMetadata(registration),
        progress.signal,
        toReplacedVersion(metadata),
      )
    try {
      const manifest = await toManifestView(
        catalog.contents,
        await registerManifest(catalog, caller, registration, progress.signal),
      )
      progress.end('import_register_stage')
      return { id: manifest.id, local_path: '', machine_name: '', manifest }
    } catch (error) {
      if (!createMetadata) throw error
      throw await undoAfterFailure(error, signal =>
        metadata
          ? writeMetadata(provider, metadataPath, metadata.fields, signal)
          : provider.remove(metadataPath, signal),
      )
    }
  }
  return catalog.withLock(toLockKey(request), register, progress.signal)
}
