import { isAbsolute } from 'node:path'
import type { Definition } from '../../definition.ts'
import type { MachineView } from '../../driver.ts'
import { openRequestedFile, openRequestedFolder } from '../../files/open-machine-file.ts'
import { getDiskName, listChangedHardware } from '../../parts.ts'
import { measureImage } from '../disks.ts'
import type { QemuMachine } from '../machine.ts'
import { type Change, compareParts } from './change.ts'
import { planChange } from './plan.ts'
import { applySteps, type RunningMachine, type Step } from './step.ts'

interface Options extends Pick<Change, 'images' | 'attachments' | 'network'> {
  readonly writeDefinition: (definition: Definition) => Promise<void>
  readonly warn: (error: unknown) => void
}

/** Resolves, checks and measures the files and folders of the host that the new parts of a definition name. */
const resolveNewParts = async ({ view, next, images, attachments }: Change): Promise<Definition> => {
  const { hostFiles, otherDisks } = attachments
  const { definition } = view
  const known = new Set(
    [...definition.disks, ...(definition.detached_disks ?? []), ...(definition.cdroms ?? [])].map(({ path }) => path),
  )
  const resolveDisk = async (disk: Definition['disks'][number], at: number): Promise<typeof disk> => {
    if (!isAbsolute(disk.path) || known.has(disk.path)) return disk
    await using file = await openRequestedFile(hostFiles, getDiskName(disk, at), disk.path, 'write')
    return { ...disk, path: file.path, ...(await measureImage(file, images, otherDisks(view.id))) }
  }
  const resolveDrive = async <Drive extends NonNullable<Definition['cdroms']>[number]>(
    drive: Drive,
  ): Promise<Drive> => {
    if (drive.path === undefined || known.has(drive.path)) return drive
    await using file = await openRequestedFile(hostFiles, drive.name, drive.path)
    return { ...drive, path: file.path }
  }
  const { shared_folders: folders = [] } = definition
  const changed = compareParts(folders, next.shared_folders ?? [], ({ name }) => name)
  const resolveFolder = async <Folder extends { name: string; path: string }>(folder: Folder): Promise<Folder> => {
    if (!changed.some(({ name }) => name === folder.name)) return folder
    await using open = await openRequestedFolder(hostFiles, folder.name, folder.path)
    return { ...folder, path: open.path }
  }
  return {
    ...next,
    disks: await Promise.all(next.disks.map(resolveDisk)),
    ...(next.cdroms && { cdroms: await Promise.all(next.cdroms.map(resolveDrive)) }),
    ...(next.shared_folders && { shared_folders: await Promise.all(next.shared_folders.map(resolveFolder)) }),
  }
}

/** Returns how steps reach the QEMU of a machine. It is connected before the first step, if the machine runs. */
const connectRunning = async (
  { view, control }: QemuMachine,
  warn: (error: unknown) => void,
): Promise<() => RunningMachine> => {
  const connected = view().state === 'running' ? await control.connect() : undefined
  return () => {
    if (!connected) throw new Error('The machine does not run.')
    return { ...connected, subscribe: control.subscribe, warn }
  }
}

/**
 * Changes a machine: what a running one can take at once, the rest at its next start. If a step fails, the steps before it are
 * undone. Throws as `planChange`, the opener of host files and QEMU do.
 */
export const configureMachine = async (
  machine: QemuMachine,
  wanted: Definition,
  { images, attachments, network, writeDefinition, warn }: Options,
): Promise<MachineView> => {
  const view = machine.view()
  // A QEMU that does not answer has no part in what the service alone does with its machine.
  if (listChangedHardware(view.definition, wanted).length === 0) {
    await writeDefinition(wanted)
    return machine.setDefinition(wanted)
  }
  const running = await connectRunning(machine, warn)
  const change = { view, images, attachments, network, running }
  const { next, steps } = planChange({ ...change, next: await resolveNewParts({ ...change, next: wanted }) })
  const isRewired = JSON.stringify(next.networks) !== JSON.stringify(view.definition.networks)
  if (isRewired) await network.check(next)
  // Last, since the definition must be true when the service is killed after it.
  const store: Step = { phase: 'grow', apply: () => writeDefinition(next) }
  const outcome = await applySteps([...steps, store], view.definition, warn)
  if (outcome !== 'applied') {
    if (outcome.definition !== view.definition) {
      machine.setDefinition(outcome.definition)
      await writeDefinition(outcome.definition).catch(warn)
    }
    throw outcome.error
  }
  const changed = machine.setDefinition(next)
  for (const step of steps) await step.finish?.().catch(warn)
  if (isRewired) await network.release(view.id, next.networks).catch(warn)
  return changed
}
