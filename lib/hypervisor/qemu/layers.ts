import { link, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncFile, syncFolder } from '#lib/platform/files.ts'
import type { ImageLayers } from './image-layers.ts'
import type { Images } from './images.ts'
import { readLayerAt } from './layer.ts'
import { basePattern, listBackingLayers, openLayers } from './open-layers.ts'

/**
 * The disk of a machine with linked clones is an overlay on base images in the machine's folder, which are never written again. A
 * clone's disk is another overlay on one of these base images. All changes are atomic: a new image is created beside the disk and
 * then renamed, so the disk's path leads to its complete content at every moment.
 */

/** Returns a path for a new base image in a machine's folder. Unused files with such a name are garbage-collected. */
export const generateBasePath = (home: string): string => join(home, `base-${crypto.randomUUID()}.qcow2`)

/** True if an image is a base image in this folder. */
const isBaseIn = (home: string, path: string): boolean => dirname(path) === home && basePattern.test(basename(path))

const listBases = async (home: string): Promise<readonly string[]> =>
  (await readdir(home)).filter(name => basePattern.test(name)).map(name => join(home, name))

/** Returns the path of a new image that will replace a disk. */
export const getUnfinishedPath = (disk: string): string => `${disk}.new`

/** Replaces a disk atomically by a new image with the same content. */
const replaceDisk = async (disk: string, make: (path: string) => Promise<void>): Promise<void> => {
  const path = getUnfinishedPath(disk)
  await rm(path, { force: true })
  await make(path)
  await syncFile(path)
  await rename(path, disk)
  await syncFolder(dirname(disk))
}

/** Creates an empty image with the backing image `base`. */
export const createOverlay = async (base: string, path: string, images: Images): Promise<void> =>
  images.overlay(base, (await readLayerAt(base)).size, path)

/** Replaces the disk atomically by an empty overlay on `base`, which must contain all of its content. */
const replaceWithOverlay = (base: string, disk: string, images: Images): Promise<void> =>
  replaceDisk(disk, path => createOverlay(base, path, images))

/** Returns a base image with the content of the disk: its backing image if nothing was written since, else a new one. */
export const freezeDisk = async (
  disk: string,
  images: Images,
): Promise<{ readonly base: string; readonly isNew: boolean }> => {
  const { backing, isUnwritten, size } = await readLayerAt(disk)
  if (
    backing !== undefined &&
    isUnwritten &&
    isBaseIn(dirname(disk), backing) &&
    size === (await readLayerAt(backing)).size
  )
    return { base: backing, isNew: false }
  const base = generateBasePath(dirname(disk))
  await link(disk, base)
  await replaceWithOverlay(base, disk, images)
  return { base, isNew: true }
}

/** A disk with more backing layers than this is copied into one image before the next freeze. */
const maxLayers = 8

/** Flattens a disk with too many layers into one image. Returns true if it did. */
export const flattenDeepDisk = async (
  disk: string,
  { images, registered }: { readonly images: Images; readonly registered: ImageLayers },
  options: Parameters<Images['convert']>[2],
): Promise<boolean> => {
  await using stack = new AsyncDisposableStack()
  const [file, ...layers] = await openLayers(disk, stack, registered)
  if (layers.length <= maxLayers) return false
  await replaceDisk(disk, path => images.convert({ format: 'qcow2', file, layers }, path, options))
  return true
}

/** A machine whose disks may have backing images of another machine. */
export interface LayerUser {
  readonly home: string
  /** The base images that its disks were created on; undefined if unknown. */
  readonly originalBases: readonly string[] | undefined
}

/**
 * Returns the direct backing images of the disks of other machines. For an unreadable disk, and for a machine that is being removed,
 * these are the original bases of the machine, so that it works again once it is repaired. Throws if these are unknown.
 */
const findUsedBases = async (users: readonly LayerUser[], home: string): Promise<ReadonlySet<string>> => {
  const used = new Set<string>()
  for (const user of users) {
    const useOriginals = (error: unknown): void => {
      if (user.originalBases === undefined) throw error
      for (const base of user.originalBases) used.add(join(home, base))
    }
    const listImages = async (): Promise<readonly string[]> =>
      (await readdir(user.home)).filter(name => name.endsWith('.qcow2')).map(name => join(user.home, name))
    for (const image of (await listImages().catch(useOriginals)) ?? []) {
      const layer = await readLayerAt(image).catch(useOriginals)
      if (layer?.backing !== undefined) used.add(layer.backing)
    }
  }
  return used
}

const measureAllocated = async (paths: readonly string[]): Promise<number> => {
  const sizes = await Promise.all(paths.map(async path => (await stat(path)).blocks * 512))
  return sizes.reduce((sum, size) => sum + size, 0)
}

interface CollectionOptions {
  readonly home: string
  /** Absolute paths of the machine's own qcow2 disks. */
  readonly disks: readonly string[]
  /** All machines whose disks may have backing images of this one. */
  readonly users: readonly LayerUser[]
  /** Absolute paths of the base images that are the disks of snapshots. */
  readonly snapshots: readonly string[]
  readonly images: Images
  /** The registered images that the disks may build on. */
  readonly registered: ImageLayers
  /** Maximum number of bytes to copy. */
  readonly maxCopiedBytes: number
  readonly signal: AbortSignal
}

/**
 * Merges the backing layers directly below a disk that no other machine uses into the lowest of them. Returns false if that would
 * copy more than `maxCopiedBytes`. If the service is killed meanwhile, only the lowest layer has changed: it also contains data of
 * the layers above it, so every disk still reads the same.
 */
const mergeLayers = async (
  disk: string,
  used: ReadonlySet<string>,
  { home, images, registered, maxCopiedBytes, signal }: CollectionOptions,
): Promise<boolean> => {
  const backingLayers = await listBackingLayers(disk, registered)
  const end = backingLayers.findIndex(base => used.has(base) || !isBaseIn(home, base))
  const ownLayers = end < 0 ? backingLayers : backingLayers.slice(0, end)
  const target = ownLayers.at(-1)
  if (ownLayers.length < 2 || target === undefined) return true
  const layers = await Promise.all([disk, ...ownLayers].map(readLayerAt))
  if (layers.some(({ hasSnapshots }) => hasSnapshots)) return true
  if ((await measureAllocated([disk, ...ownLayers.slice(0, -1)])) > maxCopiedBytes) return false
  await images.commit([disk, ...backingLayers], target, signal)
  await syncFile(target)
  await replaceWithOverlay(target, disk, images)
  return true
}

const readInode = async (path: string): Promise<bigint> => (await stat(path, { bigint: true })).ino

/** Deletes those of `bases` that neither a disk nor one of the `used` bases builds on. */
const deleteUnneededBases = async (
  disks: readonly string[],
  bases: readonly string[],
  used: ReadonlySet<string>,
  registered: ImageLayers,
): Promise<void> => {
  const roots = [...disks, ...bases.filter(base => used.has(base))]
  const needed = new Set([
    ...used,
    ...(await Promise.all(roots.map(root => listBackingLayers(root, registered)))).flat(),
  ])
  for (const base of bases) if (!needed.has(base)) await rm(base)
}

/**
 * Merges and deletes the unused layers of a machine, which must neither run nor be read. Returns true if nothing is left to do.
 * Throws the reason of the signal and the errors of qemu-img; the disks are valid in any case.
 */
export const collectUnusedLayers = async (options: CollectionOptions): Promise<boolean> => {
  const { home, disks, users, snapshots, registered, signal } = options
  // The remains of a change that was interrupted by a kill.
  for (const disk of disks) await rm(getUnfinishedPath(disk), { force: true })
  const bases = await listBases(home)
  if (bases.length === 0) return true
  const used = new Set([...(await findUsedBases(users, home)), ...snapshots])
  const results: boolean[] = []
  for (const disk of disks) {
    signal.throwIfAborted()
    results.push(await mergeLayers(disk, used, options))
  }
  await deleteUnneededBases(disks, bases, used, registered)
  return results.every(Boolean)
}

/**
 * Deletes the base images of a machine that runs which nothing builds on any more. Nothing may make a disk on one of them meanwhile.
 */
export const deleteUnusedBases = async ({
  home,
  disks,
  users,
  snapshots,
  registered,
}: Pick<CollectionOptions, 'home' | 'disks' | 'users' | 'snapshots' | 'registered'>): Promise<void> => {
  const used = new Set([...(await findUsedBases(users, home)), ...snapshots])
  const open = new Set(await Promise.all(disks.map(readInode)))
  const bases: string[] = []
  // QEMU knows an overlay that is a disk now by such a name too, and opens it again by that name.
  for (const base of await listBases(home)) if (!open.has(await readInode(base))) bases.push(base)
  await deleteUnneededBases(disks, bases, used, registered)
}
