import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { PlannedStep, Work } from '#lib/work.ts'
import { turnOf } from '../changes.ts'
import { isListPath } from '../chunks/list-object.ts'
import { parseConnection, type Storage, storageFrom } from '../connection.ts'
import { metadataOf, readMetadata, writeMetadata } from '../metadata.ts'
import { machineTypes, manifestName } from '../names.ts'
import type { ObjectStat, Provider } from '../providers/provider.ts'
import { refuseHiddenOf, registeredBefore, registeredManifest, registerManifest } from '../register.ts'
import { RegisterManifest } from '../requests.ts'
import { shownManifest } from '../shown.ts'
import type { TransferContext } from './context.ts'
import type { ImportMachine, ImportManifest, ImportResult } from './requests.ts'

const plan: readonly PlannedStep[] = [
  { name: 'import_check_stage', title: 'Look what the provider has', weight: 60 },
  { name: 'import_register_stage', title: 'Register the manifest', weight: 40 },
]

type Imported = Pick<ImportManifest, 'catalog_id' | 'version' | 'architecture' | 'connection' | 'provider_metadata'>

const storageIn = ({ connection, provider_metadata: more }: Imported): Storage => {
  const { service, storage } = parseConnection(connection)
  if (service)
    throw new ServiceError(
      'invalid',
      'The connection names another catalog; what is imported is on a provider of this one.',
    )
  if (!storage) throw new ServiceError('invalid', 'The connection names no provider.')
  return storageFrom(storage.type, { ...storage.meta, ...more })
}

/** What is on record once a registration is made, and how it is undone on the provider when it cannot be. */
interface Found {
  readonly registration: RegisterManifest
  /** Before the record is made. */
  readonly describe?: () => Promise<void>
  readonly undo?: () => Promise<void>
}

/** Registers what is found on the provider. Throws `conflict` when the catalog has the manifest already. */
const importFound = async (
  { catalog }: TransferContext,
  caller: Principal,
  request: Imported,
  work: Work,
  find: (provider: Provider, storage: Storage) => Promise<Found>,
): Promise<ImportResult> => {
  work.plan(plan)
  work.begin('import_check_stage')
  const storage = storageIn(request)
  const name = manifestName(request.catalog_id, request.architecture, request.version)
  return catalog.turns(turnOf(request), async () => {
    if (registeredBefore(catalog, caller, request))
      throw new ServiceError('conflict', `The catalog has ${name} already.`)
    const found = await find(await catalog.storages.open(storage), storage)
    await refuseHiddenOf(catalog, caller, registeredManifest(found.registration, undefined))
    work.end('import_check_stage')
    work.begin('import_register_stage')
    await found.describe?.()
    try {
      const manifest = shownManifest(await registerManifest(catalog, caller, found.registration))
      work.end('import_register_stage')
      return { id: manifest.id, local_path: '', machine_name: '', manifest }
    } catch (error) {
      await found.undo?.()
      throw error
    }
  })
}

const missing = (what: string, path: string): ServiceError =>
  new ServiceError('not-found', `The ${what} ${path} does not exist on the provider.`)

/**
 * What a registration takes over of a description; what of it is not as it should be counts as not there. Throws `upstream`
 * where that is who may see it: then nobody knows.
 */
const taken = (metadata: Readonly<Record<string, unknown>>): Record<string, unknown> => {
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
  const [issue] = error.issues
  throw new ServiceError(
    'invalid',
    `What is on the provider cannot be a manifest: ${issue?.path.join('.')} ${issue?.message}.`,
  )
}

/**
 * Takes a pack into the catalog that is on a provider together with its description. Throws `not-found` when one of them is
 * not there, `conflict` when the catalog has the manifest.
 */
export const importManifest = (
  context: TransferContext,
  caller: Principal,
  request: ImportManifest,
  work: Work,
): Promise<ImportResult> =>
  importFound(context, caller, request, work, async (provider, storage) => {
    const { catalog_id, version, architecture } = request
    const name = manifestName(catalog_id, architecture, version)
    const metadataAt = `${catalog_id}/${name}.meta`
    const metadata = await readMetadata(provider, metadataAt, work.signal)
    if (!metadata) throw missing('description', metadataAt)
    const known = taken(metadata)
    const pack =
      typeof known['pack_path'] === 'string' && known['pack_path'] !== '' ? known['pack_path'] : `${name}.pdpack`
    const found = await provider.stat(`${catalog_id}/${pack}`, work.signal)
    if (!found) throw missing('pack', `${catalog_id}/${pack}`)
    const registration = registrationOf({
      ...known,
      catalog_id,
      version,
      architecture,
      provider: storage,
      path: `/${catalog_id}`,
      pack_path: undefined,
      pack_filename: pack,
      metadata_path: undefined,
      metadata_filename: `${name}.meta`,
      // Of a list of chunks only the description knows.
      ...(!isListPath(pack) && { pack_size: found.size }),
    })
    return { registration }
  })

const ending = (path: string): string => /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''

/** Files of a machine that a manifest names. */
const mostFiles = 100_000

/** The object of a path, or what is in and below the folder of that name. Throws `not-found`. */
const objectsAt = async (provider: Provider, path: string, signal?: AbortSignal): Promise<readonly ObjectStat[]> => {
  const single = await provider.stat(path, signal)
  if (single) return [single]
  const found: ObjectStat[] = []
  for await (const object of provider.list(path, signal)) {
    if (found.length === mostFiles)
      throw new ServiceError(
        'invalid',
        `The machine ${path} has more than ${mostFiles} files, which is all that a manifest names.`,
      )
    found.push(object)
  }
  if (found.length === 0) throw missing('machine', path)
  return found
}

/**
 * Takes a machine into the catalog that is on a provider without a description: a pvm or macvm bundle, or a pack of one. The
 * description is made; one that is there already is taken over, or with `force` made anew. Throws as `importManifest`.
 */
export const importMachine = (
  context: TransferContext,
  caller: Principal,
  request: ImportMachine,
  work: Work,
): Promise<ImportResult> =>
  importFound(context, caller, request, work, async (provider, storage) => {
    const { catalog_id, version, architecture } = request
    const name = manifestName(catalog_id, architecture, version)
    const parts = request.machine_remote_path.split('/').filter(part => part !== '')
    const [folder, file] = [parts.slice(0, -1).join('/'), parts.at(-1)]
    if (file === undefined) throw new ServiceError('invalid', 'The machine_remote_path names no file and no folder.')
    const path = parts.join('/')
    const objects = await objectsAt(provider, path, work.signal)
    const type = request.type ?? machineTypes.find(one => one === ending(file))
    if (!type) throw new ServiceError('invalid', `Say the type of ${file}: its name ends with none.`)
    const metadataAt = [folder, `${name}.meta`].filter(part => part !== '').join('/')
    const before = await readMetadata(provider, metadataAt, work.signal)
    const known = taken(before ?? {})
    const registration = registrationOf({
      ...(request.force ? {} : known),
      ...Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)),
      description: request.description ?? (request.force ? undefined : known['description']),
      type,
      provider: storage,
      is_compressed: request.is_compressed ?? false,
      path: `/${folder}`,
      pack_path: undefined,
      pack_filename: file,
      metadata_path: undefined,
      metadata_filename: `${name}.meta`,
      pack_relative_path: file,
      pack_size: objects.reduce((all, { size }) => all + size, 0),
      virtual_machine_contents: objects.map(object => ({
        name: object.path.split('/').at(-1),
        path: `/${object.path
          .slice(path.length + 1)
          .split('/')
          .slice(0, -1)
          .join('/')}`,
        size: object.size,
        ...(object.modifiedAt !== undefined && { created_at: object.modifiedAt, updated_at: object.modifiedAt }),
      })),
    })
    return {
      registration,
      describe: () =>
        writeMetadata(
          provider,
          metadataAt,
          metadataOf(registeredManifest(registration, undefined), request.force ? {} : before),
          work.signal,
        ),
      undo: () => (before ? writeMetadata(provider, metadataAt, before) : provider.remove(metadataAt)),
    }
  })
