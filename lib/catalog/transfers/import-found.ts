import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { PlannedStep, Work } from '#lib/work.ts'
import { turnOf } from '../changes.ts'
import { parseConnection, type Storage, storageFrom } from '../connection.ts'
import { readMetadata, writeMetadata } from '../metadata.ts'
import { manifestName } from '../names.ts'
import type { Provider } from '../providers/provider.ts'
import { refuseHiddenOf, registeredBefore, registeredManifest, registerManifest } from '../register.ts'
import { RegisterManifest } from '../requests.ts'
import { shownManifest } from '../shown.ts'
import type { TransferContext } from './context.ts'
import type { ImportManifest, ImportResult } from './requests.ts'

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
  return storageFrom(storage.type, { ...storage.meta, ...more })
}

export const missing = (what: string, path: string): ServiceError =>
  new ServiceError('not-found', `The ${what} ${path} does not exist on the provider.`)

type Metadata = Readonly<Record<string, unknown>>

/** What a registration takes over of a description; what of it is not as it should be counts as not there. */
export const taken = (metadata: Metadata): Record<string, unknown> => {
  const fields = RegisterManifest.shape
  const kept = Object.entries(metadata).filter(
    ([key, value]) =>
      key in fields && key !== 'provider' && fields[key as keyof typeof fields].safeParse(value).success,
  )
  return Object.fromEntries(kept)
}

/** Where to look. */
interface Place {
  readonly provider: Provider
  /** Of the manifest. */
  readonly name: string
  readonly metadataAt: string
  /** The description that is there. */
  readonly before: Metadata | undefined
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
  work: Work,
  find: (place: Place) => Promise<Found>,
): Promise<ImportResult> => {
  work.plan(plan)
  work.begin('import_check_stage')
  const { catalog_id, version, architecture, folder } = request
  const storage = storageIn(request)
  const name = manifestName(catalog_id, architecture, version)
  const metadataAt = [folder, `${name}.meta`].filter(part => part !== '').join('/')
  return catalog.turns(turnOf(request), async () => {
    if (registeredBefore(catalog, caller, request))
      throw new ServiceError('conflict', `The catalog has ${name} already.`)
    const provider = await catalog.storages.open(storage)
    const before = await readMetadata(provider, metadataAt, work.signal)
    const { file, fields, describe } = await find({ provider, name, metadataAt, before })
    const registration = RegisterManifest.parse({
      ...fields,
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
    await refuseHiddenOf(catalog, caller, registeredManifest(registration, undefined))
    work.end('import_check_stage')
    work.begin('import_register_stage')
    if (describe) await writeMetadata(provider, metadataAt, describe(registration), work.signal)
    try {
      const manifest = shownManifest(await registerManifest(catalog, caller, registration))
      work.end('import_register_stage')
      return { id: manifest.id, local_path: '', machine_name: '', manifest }
    } catch (error) {
      if (describe) await (before ? writeMetadata(provider, metadataAt, before) : provider.remove(metadataAt))
      throw error
    }
  })
}
