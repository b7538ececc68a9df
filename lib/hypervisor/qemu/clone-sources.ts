import { realpath } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import { createKeyCounts } from '#lib/async/key-counts.ts'
import { createKeyedMutex } from '#lib/async/keyed-mutex.ts'
import type { Logger } from '#lib/platform/log.ts'
import type { Definition } from '../definition.ts'
import type { MachineView } from '../driver.ts'
import type { OpenRegisteredImage } from '../files/registered-image.ts'
import { listImageLayers } from './image-layers.ts'
import type { Images } from './images.ts'
import { collectUnusedLayers, deleteUnusedBases, flattenDeepDisk, freezeDisk, type LayerUser } from './layers.ts'
import { mergeLayers } from './layers/merge-layers.ts'
import type { MachineOperation } from './machine.ts'
import { listBackingLayers } from './open-layers.ts'
import { readSnapshots } from '../snapshots/snapshots-file.ts'
import { listSnapshotLayers } from './snapshots/files.ts'

/** Read locks on machines that are cloned or exported, and the layers that linked clones share with them. */
export interface CloneSources {
  /**
   * Locks the disks of a machine that does not run for reading, until disposed. The first reader collects unused layers first.
   */
  lockForReading(view: MachineView, deadline: AbortSignal): Promise<Disposable>
  /** Collects unused layers before a start, as far as that is little work. */
  prepareStart(view: MachineView, deadline: AbortSignal): Promise<void>
  /**
   * Returns the path of a base image with the content of a disk of a machine that does not run. Nothing else changes its disks
   * meanwhile. `keepsLayers` is true if the disk keeps its layers, however many they are.
   */
  freeze(
    view: MachineView,
    name: string,
    options: Parameters<Images['convert']>[2] & { readonly keepsLayers?: boolean },
  ): Promise<string>
  /**
   * Makes room for one more overlay on each disk of a machine that runs or is paused, within an operation of it. Throws as
   * `mergeLayers`; the disks are valid in any case.
   */
  makeRoom(operation: MachineOperation, signal: AbortSignal): Promise<void>
  /** Called when snapshots are deleted: the machine may now have unused layers. They are collected at once if it is stopped. */
  onSnapshotsDeleted(view: MachineView, deadline: AbortSignal): Promise<void>
  /** Called when a machine is deleted: its source may now have unused layers. */
  onRemoved(definition: Definition): void
}

interface Options {
  readonly images: Images
  readonly openImage: OpenRegisteredImage
  readonly log: Logger
  /** Returns the machines whose disks have backing images of this one, and those for which that is unknown. */
  readonly listLayerUsers: (id: string) => readonly LayerUser[]
}

/** Maximum number of bytes to merge before a start: some seconds of work on any disk. */
const maxMergeAtStart = 512 * 2 ** 20

export const createCloneSources = ({ images, openImage, log, listLayerUsers }: Options): CloneSources => {
  const withLock = createKeyedMutex()
  const readers = createKeyCounts()
  /** Machines without unused layers. */
  const collected = new Set<string>()

  const describeDisks = async ({ home, definition }: MachineView) => {
    const folder = await realpath(home)
    // A disk that was removed keeps its layers, since it can be added again.
    const disks = [...definition.disks, ...(definition.detached_disks ?? [])]
      .filter(({ path, format }) => format === 'qcow2' && !isAbsolute(path))
      .map(({ path }) => join(folder, path))
    return { home: folder, disks, registered: listImageLayers(definition, openImage) }
  }
  /** Returns who uses the layers of a machine. */
  const describeUsers = async ({ id, home }: Pick<MachineView, 'id' | 'home'>) => ({
    users: listLayerUsers(id),
    snapshots: listSnapshotLayers(home, await readSnapshots(home)),
  })
  // The disks stay valid; they only have more layers.
  const warn = (name: string, error: unknown): void =>
    log.warning('{name}: unused layers of its disks are kept for now: {error}', { name, error: messageOf(error) })

  /** Collects unused layers. Throws `conflict` if a disk has a backing file that is not a base image of a machine. */
  const collectLayers = async (view: MachineView, signal: AbortSignal, maxCopiedBytes: number) => {
    const { id, name, state, definition } = view
    const { home, disks, registered } = await describeDisks(view)
    for (const disk of disks) await listBackingLayers(disk, registered)
    if (state !== 'stopped' || collected.has(id)) return
    try {
      const using = await describeUsers({ id, home })
      const options = { home, disks, registered, ...using, images, maxCopiedBytes, signal }
      if (await collectUnusedLayers(options)) collected.add(id)
      // It may no longer use layers of the machine it was cloned from.
      if (definition.base !== undefined) collected.delete(definition.base)
    } catch (error) {
      signal.throwIfAborted()
      warn(name, error)
    }
  }

  return {
    lockForReading: (view, deadline) =>
      withLock(view.id, async () => {
        if (readers.get(view.id) === 0) await collectLayers(view, deadline, Infinity)
        return readers.add(view.id)
      }),
    prepareStart: (view, deadline) => withLock(view.id, () => collectLayers(view, deadline, maxMergeAtStart)),
    freeze: ({ id, home, definition }, name, options) =>
      withLock(id, async () => {
        const disk = join(await realpath(home), name)
        const registered = listImageLayers(definition, openImage)
        const isFlat = !options.keepsLayers && (await flattenDeepDisk(disk, { images, registered }, options))
        if (isFlat) collected.delete(id)
        const { base, isNew } = await freezeDisk(disk, images)
        if (isNew) collected.delete(id)
        return base
      }),
    makeRoom: async (operation, signal) => {
      const view = operation.machine.view()
      const { id, name, definition } = view
      collected.delete(id)
      await withLock(id, async () => {
        if (!(await mergeLayers(operation, listImageLayers(definition, openImage), signal))) return
        const deleting = async (): Promise<void> => {
          const layers = await describeDisks(view)
          await deleteUnusedBases({ ...layers, ...(await describeUsers({ id, home: layers.home })) })
        }
        await deleting().catch((error: unknown) => warn(name, error))
      })
    },
    onSnapshotsDeleted: (view, deadline) =>
      withLock(view.id, async () => {
        collected.delete(view.id)
        if (readers.get(view.id) === 0) await collectLayers(view, deadline, Infinity)
      }),
    onRemoved({ id, base }) {
      collected.delete(id)
      if (base !== undefined) collected.delete(base)
    },
  }
}
