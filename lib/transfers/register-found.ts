import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { firstMistake } from '#lib/schema-errors.ts'
import type { PlannedStep, ProgressReporter } from '#lib/async/progress.ts'
import { toLockKey } from '#lib/catalog/changes.ts'
import { parseConnection, type Storage, parseStorage } from '#lib/objects/port/connection.ts'
import { readMetadata, toReplacedVersion, writeMetadata } from '#lib/catalog/metadata.ts'
import { formatManifestName } from '#lib/catalog/identifiers.ts'
import { refuseHidden } from '#lib/catalog/owners.ts'
import type { Provider } from '#lib/objects/port/provider.ts'
import { refuseNewHiddenObjects, findReplaced, applyRegistration, registerManifest } from '#lib/catalog/register.ts'
import { RegisterManifest } from '#lib/catalog/schemas.ts'
import { toManifestView } from '#lib/catalog/view.ts'
import { undoAfterFailure } from '#lib/catalog/undo.ts'
import type { TransferContext } from './context.ts'
import type { ImportManifest } from './schemas.ts'
import type { ImportResult } from '#lib/catalog/schemas.ts'

const plan: readonly PlannedStep[] = [
  { name: 'import_check_stage', title: 'Look what the provider has', weight: 60 },
  { name: 'import_register_stage', title: 'Register the manifest', weight: 40 },
]

const storageIn = ({ connection, provider_metadata: more }: ImportManifest): Storage => {
  const { service, storage } = parseConnection(connection)
  if (service)
    throw new ServiceError(
      'invalid',
      'The connection names another catalog; what is imported is on a provider of this one.',
    )
  if (!storage) throw new ServiceError('invalid', 'The connection names no provider.')
  return parseStorage(storage.type, { ...storage.meta, ...more })
}

export const missing = (what: string, path: string): ServiceError =>
  new ServiceError('not-found', `The ${what} ${path} does not exist on the provider.`)

type Metadata = Readonly<Record<string, unknown>>

/**
 * What a registration takes over of a description; what of it is not as it should be counts as not there. Throws `upstream`
 * where that is who may see it: then nobody knows.
 */
export const taken = (metadata: Metadata): Record<string, unknown> => {
  const fields = RegisterManifest.shape
  const kept = Object.entries(metadata).filter(([key, value]) => {
    if (!Object.hasOwn(fields, key) || key === 'provider') return false
    const { success } = fields[key as keyof typeof fields].safeParse(value)
    if (!success && (key === 'required_claims' || key === 'required_roles'))
      throw new ServiceError('upstream', `The description on the provider has ${key} that are none.`)
    return success
  })
  return Object.fromEntries(kept)
}

const registrationOf = (found: object): RegisterManifest => {
  const { data, error } = RegisterManifest.safeParse(found)
  if (data) return data
  throw new ServiceError('invalid', `What is on the provider cannot be a manifest: ${firstMistake(error)}.`)
}

/** Where to look. */
interface Place {
  readonly provider: Provider
  /** Of the manifest. */
  readonly name: string
  readonly metadataAt: string
  /** The description that is there. */
  readonly before: Metadata | undefined
  /** Throws `forbidden` for an object that is of a manifest that the caller may not know of. To be asked before it is read. */
  refuseHidden(path: string): Promise<void>
}

interface Found {
  /** The pack or the machine, in its folder. */
  readonly file: string
  /** What its registration says beside where it is. */
  readonly fields: Metadata
  /** The description that it is to have there from now on; it stays as it is when left out. */
  readonly describe?: (registration: RegisterManifest) => object
}

/**
 * Registers what `find` finds in a folder of the provider, and describes it there. Throws `conflict` when the catalog has
 * the manifest already, and what `find` does; then there is nothing new.
 */
export const importFound = async (
  { catalog }: TransferContext,
  caller: Principal,
  request: ImportManifest & { readonly folder: string },
  work: ProgressReporter,
  find: (place: Place) => Promise<Found>,
): Promise<ImportResult> => {
  work.plan(plan)
  work.begin('import_check_stage')
  const { catalog_id, version, architecture, folder } = request
  const storage = storageIn(request)
  const name = formatManifestName(catalog_id, architecture, version)
  const metadataAt = [folder, `${name}.meta`].filter(part => part !== '').join('/')
  const imported = async (): Promise<ImportResult> => {
    if (findReplaced(catalog, caller, request)) throw new ServiceError('conflict', `The catalog has ${name} already.`)
    const provider = await catalog.storages.open(storage)
    const before = await readMetadata(provider, metadataAt, work.signal)
    const { file, fields, describe } = await find({
      provider,
      name,
      metadataAt,
      before: before?.fields,
      refuseHidden: path => refuseHidden(catalog, caller, storage, [path]),
    })
    const described = z.uuid().safeParse(fields['id']).data
    const registration = registrationOf({
      ...fields,
      id: described && !catalog.inventory.get(described) ? described : crypto.randomUUID(),
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
    work.end('import_check_stage')
    work.begin('import_register_stage')
    if (describe)
      await writeMetadata(provider, metadataAt, describe(registration), work.signal, toReplacedVersion(before))
    try {
      const manifest = await toManifestView(
        catalog.contents,
        await registerManifest(catalog, caller, registration, work.signal),
      )
      work.end('import_register_stage')
      return { id: manifest.id, local_path: '', machine_name: '', manifest }
    } catch (error) {
      if (!describe) throw error
      throw await undoAfterFailure(error, signal =>
        before ? writeMetadata(provider, metadataAt, before.fields, signal) : provider.remove(metadataAt, signal),
      )
    }
  }
  return catalog.withLock(toLockKey(request), imported, work.signal)
}
