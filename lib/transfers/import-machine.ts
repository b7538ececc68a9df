import type { Principal } from '#lib/access/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ProgressReporter } from '#lib/async/progress.ts'
import { toMetadata } from '#lib/catalog/metadata.ts'
import { machineTypes } from '#lib/catalog/identifiers.ts'
import type { ObjectStat, Provider } from '#lib/objects/port/provider.ts'
import { applyRegisteredContents, applyRegistration } from '#lib/catalog/register.ts'
import type { TransferContext } from './context.ts'
import { importFound, missing, taken } from './register-found.ts'
import type { ImportMachine } from './schemas.ts'
import type { ImportResult } from '#lib/catalog/schemas.ts'
import { requirePack } from './require-pack.ts'

const ending = (path: string): string => /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''

/** Files of a machine that a manifest names. */
const mostFiles = 100_000

const mebibyte = 2 ** 20

/** Whether a number says the size of a pack: in bytes, or in MB, as clients of the field do. */
const saysSize = (said: number, size: number): boolean =>
  said === size || said === Math.floor(size / mebibyte) || said === Math.ceil(size / mebibyte)

interface Wanted {
  readonly path: string
  /** As the request says. */
  readonly size: number
}

/** The pack at a path, or what is in and below the bundle of that name. Throws `not-found` and `invalid`. */
const objectsAt = async (
  provider: Provider,
  { path, size }: Wanted,
  signal?: AbortSignal,
): Promise<readonly ObjectStat[]> => {
  const single = await provider.stat(path, signal)
  if (single) {
    await requirePack(provider, single, signal)
    if (!saysSize(size, single.size))
      throw new ServiceError(
        'invalid',
        `The pack ${path} has ${single.size} bytes, and not the size ${size} that you say.`,
      )
    return [single]
  }
  if (!/\.(pvm|macvm)$/i.test(path))
    throw new ServiceError(
      'not-found',
      `There is no pack ${path} on the provider. The name of a folder has to end with .pvm or .macvm.`,
    )
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

/** An object of a machine as one of its contents. */
const contentItem = ({ path, size, modifiedAt }: ObjectStat, machine: string): object => {
  const parts = path.slice(machine.length + 1).split('/')
  return {
    name: path.split('/').at(-1),
    path: `/${parts.slice(0, -1).join('/')}`,
    size,
    ...(modifiedAt !== undefined && { created_at: modifiedAt, updated_at: modifiedAt }),
  }
}

/**
 * Takes a machine into the catalog that is on a provider without a description: a pvm or macvm bundle, or a pack of one. The
 * description is made; one that is there already is taken over, or with `force` made anew. Throws as `importManifest`, and
 * `invalid` for a path that names nothing, for what is neither such a bundle nor a pack of the size that is said, and where nothing
 * says the type.
 */
export const importMachine = async (
  context: TransferContext,
  caller: Principal,
  request: ImportMachine,
  work: ProgressReporter,
): Promise<ImportResult> => {
  const parts = request.machine_remote_path.split('/').filter(part => part !== '')
  const [folder, file] = [parts.slice(0, -1).join('/'), parts.at(-1)]
  if (file === undefined) throw new ServiceError('invalid', 'The machine_remote_path names no file and no folder.')
  const path = parts.join('/')
  return importFound(context, caller, { ...request, folder }, work, async ({ provider, before, refuseHidden }) => {
    await refuseHidden(path)
    const objects = await objectsAt(provider, { path, size: request.size }, work.signal)
    const type = request.type ?? machineTypes.find(one => one === ending(file))
    if (!type) throw new ServiceError('invalid', `Say the type of ${file}: its name ends with none.`)
    const kept = request.force ? {} : before
    const asked = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined))
    return {
      file,
      fields: {
        ...taken(kept ?? {}),
        ...asked,
        type,
        is_compressed: request.is_compressed ?? false,
        pack_relative_path: file,
        pack_size: objects.reduce((all, { size }) => all + size, 0),
        virtual_machine_contents: objects.map(object => contentItem(object, path)),
      },
      describe: registration =>
        toMetadata(
          applyRegistration(registration, undefined, { at: context.catalog.clock.next() }),
          applyRegisteredContents(registration),
          kept,
        ),
    }
  })
}
