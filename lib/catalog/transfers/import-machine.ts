import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import type { Work } from '#lib/work.ts'
import { metadataOf } from '../metadata.ts'
import { machineTypes } from '../names.ts'
import type { ObjectStat, Provider } from '../providers/provider.ts'
import { registeredManifest } from '../register.ts'
import type { TransferContext } from './context.ts'
import { importFound, missing, taken } from './import-found.ts'
import type { ImportMachine, ImportResult } from './requests.ts'

const ending = (path: string): string => /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? ''

/** The object of a path, or what is in and below the folder of that name. Throws `not-found`. */
const objectsAt = async (provider: Provider, path: string, signal?: AbortSignal): Promise<readonly ObjectStat[]> => {
  const single = await provider.stat(path, signal)
  if (single) return [single]
  const found: ObjectStat[] = []
  for await (const object of provider.list(path, signal)) found.push(object)
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
 * `invalid` for a path that names nothing, or whose type nothing says.
 */
export const importMachine = async (
  context: TransferContext,
  caller: Principal,
  request: ImportMachine,
  work: Work,
): Promise<ImportResult> => {
  const parts = request.machine_remote_path.split('/').filter(part => part !== '')
  const [folder, file] = [parts.slice(0, -1).join('/'), parts.at(-1)]
  if (file === undefined) throw new ServiceError('invalid', 'The machine_remote_path names no file and no folder.')
  const path = parts.join('/')
  return importFound(context, caller, { ...request, folder }, work, async ({ provider, before }) => {
    const objects = await objectsAt(provider, path, work.signal)
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
      describe: registration => metadataOf(registeredManifest(registration, undefined), kept),
    }
  })
}
