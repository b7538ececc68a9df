import { constants, copyFile, link, open, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { syncFile, syncFolder } from '#lib/platform/files.ts'
import type { Account } from '#lib/platform/processes.ts'
import { runFrozen } from '../../agent/freeze-guest.ts'
import type { MachineView } from '../../driver.ts'
import { firmwareFile } from '../../files/machine-files.ts'
import type { NewSnapshot, Snapshot, SnapshotTree } from '../../snapshot.ts'
import { fileNames } from '../file-names.ts'
import { assertSameParts } from '../hardware/same-parts.ts'
import type { Images } from '../images.ts'
import { discardOverlays, prepareOverlays, switchToOverlays } from '../layers/put-overlays.ts'
import type { MachineOperation, QemuMachine } from '../machine.ts'
import { buildHeader } from '../memory-file.ts'
import type { Qmp } from '../qmp.ts'
import { assertSuspendable, sendMemory } from '../saved-memory.ts'
import { deleteUnlistedFiles } from '../../snapshots/snapshots-file.ts'
import { addToTree } from '../../snapshots/tree.ts'
import { getMemoryFile, getVariablesFile } from './files.ts'
import { assertLayerable, endPause, listOverlayDisks } from '../layers/pause.ts'

interface Options {
  readonly images: Images
  readonly account: Account | undefined
  /** Returns the path of a base image with the present content of a disk of a machine that does not run. */
  readonly freeze: (view: MachineView, disk: string) => Promise<string>
  /** Makes room for one more overlay on each disk of a machine that runs or is paused. */
  readonly makeRoom: (operation: MachineOperation, signal: AbortSignal) => Promise<void>
  readonly writeSnapshots: (view: MachineView, tree: SnapshotTree) => Promise<void>
}

type Parts = Pick<Snapshot, 'layers' | 'memory'>

/** Copies the firmware variables of a machine whose QEMU does not write to them now. */
const copyVariables = async ({ home, definition }: MachineView, id: string): Promise<void> => {
  if (definition.firmware !== 'uefi') return
  const copy = join(home, getVariablesFile(id))
  await copyFile(join(home, firmwareFile), copy, constants.COPYFILE_EXCL)
  await syncFile(copy)
}

/** Saves the memory of a paused guest to the file of a snapshot. */
const saveSnapshotMemory = async (
  qmp: Qmp,
  { id, home }: MachineView,
  snapshot: string,
  deadline: AbortSignal,
): Promise<NonNullable<Snapshot['memory']>> => {
  const suspension = crypto.randomUUID()
  await using file = await open(join(home, getMemoryFile(snapshot)), 'wx', 0o600)
  await file.writeFile(buildHeader(id, suspension))
  await sendMemory(qmp, home, file, deadline)
  return { suspension, size: (await file.stat()).size }
}

/**
 * Keeps the disks and the memory of a machine that runs or is paused. The disks are kept first, while the images are active; then the
 * memory, which leaves them inactive until the guest continues. No guest instruction runs in between. `finish` is called before the
 * guest continues.
 */
const keepRunning = async (
  operation: MachineOperation,
  { agentPort }: Pick<QemuMachine, 'agentPort'>,
  { id, withMemory }: NewSnapshot,
  { images, account, makeRoom }: Options,
  finish: (parts: Parts) => Promise<void>,
  deadline: AbortSignal,
): Promise<void> => {
  const { machine, control, journal, pauseGuest, continueGuest } = operation
  const view = machine.view()
  const { qmp } = await control.connect()
  if (withMemory) {
    assertSuspendable(view)
    await assertSameParts(qmp, view.definition)
  }
  await makeRoom(operation, deadline)
  const overlays = await prepareOverlays(await listOverlayDisks(view), { qmp, images, account })
  let isPut = false
  const keep = async (): Promise<void> => {
    if (view.state === 'running') await pauseGuest(qmp)
    isPut = true
    try {
      await switchToOverlays(qmp, overlays)
      await copyVariables(view, id)
      const memory = withMemory ? await saveSnapshotMemory(qmp, view, id, deadline) : undefined
      const layers = overlays.map(({ path, base }) => [basename(path), basename(base)])
      await finish({ layers: Object.fromEntries(layers), ...(memory && { memory }) })
    } finally {
      await endPause(qmp, view.state).catch(() => continueGuest(qmp))
    }
  }
  await journal.writeOperation({ verb: 'snapshot', from: view.state })
  try {
    // Saved memory has what the guest has not written to its disks yet.
    const mustFreeze = view.state === 'running' && !withMemory
    await runFrozen(mustFreeze ? agentPort.current() : undefined, deadline, keep)
  } catch (error) {
    if (!isPut) await discardOverlays(overlays)
    throw error
  } finally {
    await journal.writeOperation(undefined).catch(machine.warn)
  }
}

/** Keeps the disks of a machine that does not run, and the memory of a suspended one. */
const keepStill = async (
  view: MachineView,
  id: string,
  { owner }: MachineOperation,
  { freeze }: Options,
): Promise<Parts> => {
  const { home, state, definition } = view
  const layers: Record<string, string> = {}
  const memory = state === 'suspended' ? await owner.journal.readMemory() : undefined
  if (state === 'suspended' && !memory)
    throw new ServiceError(
      'conflict',
      `${view.name} was suspended by an older version of the service, so its memory cannot be kept. Resume it first.`,
    )
  for (const { path } of definition.disks) layers[path] = basename(await freeze(view, path))
  await copyVariables(view, id)
  // Nobody writes to saved memory, so both names can have the same file.
  if (memory) await link(join(home, fileNames.stateFile), join(home, getMemoryFile(id)))
  await syncFolder(home)
  return { layers, ...(memory && { memory }) }
}

const measureSize = async (home: string, { layers, memory }: Parts): Promise<number> => {
  const files = await Promise.all(Object.values(layers).map(name => stat(join(home, name))))
  return files.reduce((sum, { blocks }) => sum + blocks * 512, memory?.size ?? 0)
}

/** Makes a snapshot of a machine. Throws as `SnapshotDriver.create`. */
export const createSnapshot = async (
  qemuMachine: QemuMachine,
  wanted: NewSnapshot,
  options: Options,
  deadline: AbortSignal,
): Promise<MachineView> =>
  qemuMachine.operate(deadline, async operation => {
    const { machine } = operation
    const view = machine.view()
    const { home, state, definition, snapshots: tree } = view
    assertLayerable(view, { what: 'Snapshots', advice: 'the clone can have snapshots' })
    const { id, name, description, schedule } = wanted
    const finish = async (parts: Parts): Promise<void> => {
      const snapshot = {
        ...{ id, name, description, definition, ...parts },
        created_at: new Date().toISOString(),
        state: state as Snapshot['state'],
        size: await measureSize(home, parts),
        ...(schedule !== undefined && { schedule }),
      }
      await options.writeSnapshots(view, addToTree(tree, snapshot))
    }
    try {
      if (state === 'running' || state === 'paused')
        await keepRunning(operation, qemuMachine, wanted, options, finish, deadline)
      else await finish(await keepStill(view, id, operation, options))
    } catch (error) {
      await deleteUnlistedFiles(home, machine.view().snapshots).catch(machine.warn)
      throw error
    }
  })
