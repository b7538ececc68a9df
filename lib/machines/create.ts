import { realpath } from 'node:fs/promises'
import { ServiceError } from '#lib/errors.ts'
import { isInside } from '#lib/platform/files.ts'
import type { MachineContext } from './context.ts'
import type { CreatedMachine, CreateMachine } from './schemas.ts'

/**
 * The real path of a file of the host. Throws `invalid` when it does not exist, and `forbidden` when it is outside the
 * allowed folders, links followed; without any all are allowed.
 */
const realFile = async (path: string, allowed: readonly string[]): Promise<string> => {
  const real = await realpath(path).catch(() => {
    throw new ServiceError('invalid', `${path} does not exist on the host or cannot be read.`)
  })
  if (allowed.length > 0 && !allowed.some(folder => isInside(folder, real)))
    throw new ServiceError('forbidden', `${path} is outside the folders that machines may use files of.`)
  return real
}

/** Makes a machine. Throws `invalid`, `conflict` for a name in use, and what the driver refuses with. */
export const createMachine = async (
  { driver, inventory, names, host }: MachineContext,
  request: CreateMachine,
  { allowedFolders }: { allowedFolders: readonly string[] },
): Promise<CreatedMachine> => {
  const real = (path: string): Promise<string> => realFile(path, allowedFolders)
  // What was allowed is what is used: a link that is changed afterwards leads nowhere else.
  const disks = await Promise.all(
    request.disks.map(async disk => ('path' in disk ? { path: await real(disk.path) } : disk)),
  )
  const kernel = request.kernel && (await real(request.kernel))
  const initrd = request.initrd && (await real(request.initrd))
  using _name = names.reserve(request.name)
  const view = await driver.create({ ...request, disks, kernel, initrd })
  inventory.accept(view)
  return { id: view.id, name: view.name, owner: host.user, current_state: view.state }
}
