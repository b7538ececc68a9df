import { ServiceError } from '#lib/errors.ts'
import type { Definition, NewMachine } from '../../definition.ts'
import { openRequestedFile, openRequestedFolder } from '../../files/open-machine-file.ts'
import { isMultiboot } from '../../files/file-start.ts'
import type { Attachments } from '../attached-files.ts'
import { requireFirmware } from './firmware.ts'

/** What only the hardware of q35 machines has. */
const modernMembers = ['display', 'max_cpus', 'max_memory'] as const

/**
 * Returns the machine type of a request: that of its own choice, else `pc` for a multiboot kernel. Such kernels are small and
 * drive the devices of an old PC themselves.
 */
const chooseMachineType = async (
  { machine_type, kernel }: NewMachine,
  { hostFiles }: Attachments,
): Promise<'pc' | 'q35'> => {
  if (machine_type !== undefined) return machine_type
  if (kernel === undefined) return 'q35'
  await using file = await openRequestedFile(hostFiles, 'kernel', kernel)
  return (await isMultiboot(file)) ? 'pc' : 'q35'
}

const assertPossible = (request: NewMachine, type: 'pc' | 'q35', { firmware }: Attachments): void => {
  const { cpus, memory, max_cpus = cpus, max_memory = memory } = request
  const modern =
    request.firmware === 'uefi' ? 'firmware' : modernMembers.find(member => (request[member] ? true : undefined))
  if (type === 'pc' && modern !== undefined)
    throw new ServiceError('invalid', `${modern}: only machines of the type q35 have that; this one is a pc.`)
  if (request.firmware === 'uefi') requireFirmware(firmware)
  if (max_cpus < cpus) throw new ServiceError('invalid', `max_cpus: ${max_cpus} are fewer than cpus, ${cpus}.`)
  if (max_memory < memory) throw new ServiceError('invalid', `max_memory: ${max_memory} MB are less than memory.`)
}

/** Resolves the files and folders of the host that a request names, and checks each. Throws as the opener does. */
const resolveHostPaths = async (
  { cdroms, shared_folders }: NewMachine,
  { hostFiles }: Attachments,
): Promise<Pick<Definition, 'cdroms' | 'shared_folders'>> => {
  const drives: NonNullable<Definition['cdroms']> = []
  for (const [at, { path, image }] of (cdroms ?? []).entries()) {
    const name = `cdrom${at}`
    await using file = path === undefined ? undefined : await openRequestedFile(hostFiles, `cdroms.${at}.path`, path)
    drives.push({ name, ...(file && { path: file.path }), ...(image !== undefined && { image }) })
  }
  const folders: NonNullable<Definition['shared_folders']> = []
  for (const [at, folder] of (shared_folders ?? []).entries()) {
    await using open = await openRequestedFolder(hostFiles, `shared_folders.${at}.path`, folder.path)
    folders.push({ ...folder, path: open.path })
  }
  return { ...(cdroms && { cdroms: drives }), ...(shared_folders && { shared_folders: folders }) }
}

/** Returns the hardware of a new machine. Throws `invalid`, `unsupported`, and as the opener of host files does. */
export const planHardware = async (
  request: NewMachine,
  attachments: Attachments,
): Promise<Partial<Definition> & Pick<Definition, 'machine_type'>> => {
  const machine_type = await chooseMachineType(request, attachments)
  assertPossible(request, machine_type, attachments)
  return { machine_type, ...(await resolveHostPaths(request, attachments)) }
}
