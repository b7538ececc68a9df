import { realpath } from 'node:fs/promises'
import { ServiceError } from '#lib/errors.ts'
import { isInside } from '#lib/platform/files.ts'
import type { MachineContext } from './context.ts'
import type { CreatedMachine, CreateMachine } from './schemas.ts'

/** Refuses a file that does not exist, and one outside the allowed folders, links followed; all are allowed without any. */
const checkFile = async (path: string, allowed: readonly string[]): Promise<void> => {
  const real = await realpath(path).catch(() => {
    throw new ServiceError('invalid', `${path} does not exist on the host or cannot be read.`)
  })
  if (allowed.length > 0 && !allowed.some(folder => isInside(folder, real)))
    throw new ServiceError('forbidden', `${path} is outside the folders that machines may use files of.`)
}

/** Makes a machine. Throws `invalid`, `conflict` for a name in use, and what the driver refuses with. */
export const createMachine = async (
  { driver, inventory, names, host }: MachineContext,
  request: CreateMachine,
  { allowedFolders }: { allowedFolders: readonly string[] },
): Promise<CreatedMachine> => {
  const disks = request.disks.flatMap(disk => ('path' in disk ? [disk.path] : []))
  const files = [...disks, request.kernel, request.initrd].filter(path => path !== undefined)
  for (const path of files) await checkFile(path, allowedFolders)
  using _name = names.reserve(request.name)
  const view = await driver.create(request)
  inventory.accept(view)
  return { id: view.id, name: view.name, owner: host.user, current_state: view.state }
}
