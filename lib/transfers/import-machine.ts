import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { toMetadata } from '#lib/catalog/metadata.ts'
import { machineTypes } from '#lib/catalog/identifiers.ts'
import type { ObjectStat, Provider } from '#lib/objects/port/provider.ts'
import { applyRegisteredContents, applyRegistration } from '#lib/catalog/register.ts'
import type { CatalogPart } from './context.ts'
import { pickRegistrationFields, registerImport } from './register-import.ts'
import type { ImportMachine } from './schemas.ts'
import type { ImportResult } from '#lib/catalog/schemas.ts'
import { createMissingObjectError, requirePack } from './require-pack.ts'
import type { ImportStep } from './steps.ts'

const getExtension = (path: string): string => /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''

/** Maximum number of files of a machine that a manifest lists. */
const maxFiles = 100_000

const mebibyte = 2 ** 20

/** Says whether a request states the size of a pack: in bytes or, as some clients do, in MB. */
const isStatedSize = (stated: number, size: number): boolean =>
  stated === size || stated === Math.floor(size / mebibyte) || stated === Math.ceil(size / mebibyte)

interface StatedPack {
  readonly path: string
  /** The size in the request. */
  readonly size: number
}

/** Returns the pack at the path, or the objects of the bundle of that name. Throws `not-found` and `invalid`. */
const findObjects = async (
  provider: Provider,
  { path, size }: StatedPack,
  signal?: AbortSignal,
): Promise<readonly ObjectStat[]> => {
  const pack = await provider.stat(path, signal)
  if (pack) {
    await requirePack(provider, pack, signal)
    if (!isStatedSize(size, pack.size))
      throw new ServiceError('invalid', `The pack ${path} has ${pack.size} bytes, but the request says ${size}.`)
    return [pack]
  }
  if (!/\.(pvm|macvm)$/i.test(path))
    throw new ServiceError(
      'not-found',
      `There is no pack ${path} on the provider. The name of a folder has to end with .pvm or .macvm.`,
    )
  const objects: ObjectStat[] = []
  for await (const object of provider.list(path, signal)) {
    if (objects.length === maxFiles)
      throw new ServiceError(
        'invalid',
        `The machine ${path} has more than ${maxFiles} files, the maximum that a manifest lists.`,
      )
    objects.push(object)
  }
  if (objects.length === 0) throw createMissingObjectError('machine', path)
  return objects
}

/** Returns an object of a machine as an item of the manifest's list of files. */
const toContentItem = ({ path, size, modifiedAt }: ObjectStat, machinePath: string): object => {
  const segments = path.slice(machinePath.length + 1).split('/')
  return {
    name: path.split('/').at(-1),
    path: `/${segments.slice(0, -1).join('/')}`,
    size,
    ...(modifiedAt !== undefined && { created_at: modifiedAt, updated_at: modifiedAt }),
  }
}

/**
 * Registers a machine that is on a provider without a complete description: a pvm or macvm bundle, or a pack of one, and
 * writes its description. It keeps the members of an existing description, or with `force` ignores them. Throws what
 * `importManifest` throws. Also throws `invalid` for a path that names nothing, for an object that is neither such a bundle
 * nor a pack of the stated size, and when neither the request nor the name says the type.
 */
export const importMachine = async (
  context: CatalogPart,
  caller: Principal,
  request: ImportMachine,
  progress: ProgressReporter<ImportStep>,
): Promise<ImportResult> => {
  const segments = request.machine_remote_path.split('/').filter(segment => segment !== '')
  const [folder, file] = [segments.slice(0, -1).join('/'), segments.at(-1)]
  if (file === undefined)
    throw new ServiceError('invalid', 'The machine_remote_path names neither a file nor a folder.')
  const path = segments.join('/')
  return registerImport(context, caller, { ...request, folder }, progress, async importFolder => {
    await importFolder.refuseHidden(path)
    const objects = await findObjects(importFolder.provider, { path, size: request.size }, progress.signal)
    const type = request.type ?? machineTypes.find(machineType => machineType === getExtension(file))
    if (!type)
      throw new ServiceError(
        'invalid',
        `The name ${file} does not say the type of the machine. Add \`type\` to the request.`,
      )
    const metadata = request.force ? {} : importFolder.metadata
    const requestFields = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined))
    return {
      file,
      fields: {
        ...pickRegistrationFields(metadata ?? {}),
        ...requestFields,
        type,
        is_compressed: request.is_compressed ?? false,
        pack_relative_path: file,
        pack_size: objects.reduce((sum, { size }) => sum + size, 0),
        virtual_machine_contents: objects.map(object => toContentItem(object, path)),
      },
      createMetadata: registration =>
        toMetadata(
          applyRegistration(registration, undefined, { at: context.catalog.clock.next() }),
          applyRegisteredContents(registration),
          metadata,
        ),
    }
  })
}
