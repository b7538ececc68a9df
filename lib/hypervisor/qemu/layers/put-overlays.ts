import { link, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncFile, syncFolder } from '#lib/platform/files.ts'
import type { Account } from '#lib/platform/processes.ts'
import type { Images } from '../images.ts'
import { createOverlay, generateBasePath, getUnfinishedPath } from '../layers.ts'
import { basePattern } from '../open-layers.ts'
import { setFileOwner } from '../ownership.ts'
import type { Qmp } from '../qmp.ts'
import { findDiskNode, generateNodeName } from './disk-nodes.ts'

/** A disk of a running QEMU. */
export interface RunningDisk {
  /** `hdd0`, … */
  readonly name: string
  /** The path of the image, in the machine's folder without links. */
  readonly path: string
}

/**
 * An overlay that will be put over a disk. QEMU opens its file under the name that the file has as a base later, because QEMU may open
 * it again by that name, and the name of the disk then leads to another file.
 */
export interface PreparedOverlay extends RunningDisk {
  /** The node of the present image in QEMU. */
  readonly below: string
  /** The node of the overlay. */
  readonly node: string
  /** The path under which the present image of the disk stays. */
  readonly base: string
  /** The path of the overlay as QEMU knows it. */
  readonly file: string
  /**
   * A second name of the overlay, which becomes that of the disk. It is of this preparation alone, because a fork keeps prepared
   * overlays while other operations put theirs. It looks like a base, so that it is deleted if a kill leaves it.
   */
  readonly replacement: string
}

const isSameFile = async (a: string, b: string): Promise<boolean> => {
  const [one, other] = await Promise.all([a, b].map(path => stat(path, { bigint: true }).catch(() => undefined)))
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev
}

/** Returns a path for the present image of a disk beside the name of the disk, under which QEMU knows it if possible. */
const keepImage = async (path: string, knownName: string): Promise<string> => {
  const known = join(dirname(path), knownName)
  if (basePattern.test(knownName) && (await isSameFile(known, path))) return known
  const base = generateBasePath(dirname(path))
  await link(path, base)
  return base
}

/** Deletes overlays that were not put over their disks. */
export const discardOverlays = async (overlays: readonly PreparedOverlay[]): Promise<void> => {
  for (const { file } of overlays) await rm(file, { force: true })
}

/** Creates the files of new overlays, while the guest may run. Throws `no-space` and what qemu-img refuses. */
export const prepareOverlays = async (
  disks: readonly RunningDisk[],
  { qmp, images, account }: { readonly qmp: Qmp; readonly images: Images; readonly account: Account | undefined },
): Promise<readonly PreparedOverlay[]> => {
  const overlays: PreparedOverlay[] = []
  try {
    for (const { name, path } of disks) {
      const { node, file: knownName } = await findDiskNode(qmp, name)
      const base = await keepImage(path, knownName)
      const [file, replacement] = [generateBasePath(dirname(path)), generateBasePath(dirname(path))]
      overlays.push({ name, path, below: node, node: generateNodeName(name), base, file, replacement })
      await createOverlay(base, file, images)
      if (account) await setFileOwner(file, account)
      await syncFile(file)
    }
    for (const folder of new Set(disks.map(({ path }) => dirname(path)))) await syncFolder(folder)
    return overlays
  } catch (error) {
    await discardOverlays(overlays)
    throw error
  }
}

/**
 * Puts prepared overlays over the disks of a QEMU whose guest is paused and whose images are active. From then on nobody writes to
 * the images below. The disks of the machine are the overlays before the guest continues, whoever dies meanwhile.
 */
export const switchToOverlays = async (qmp: Qmp, overlays: readonly PreparedOverlay[]): Promise<void> => {
  if (overlays.length === 0) return
  const added: string[] = []
  try {
    for (const { replacement, node, file } of overlays) {
      await link(file, replacement)
      const image = { driver: 'qcow2', discard: 'unmap', backing: null }
      const opened = { 'node-name': node, file: { driver: 'file', filename: basename(file) } }
      await qmp.execute('blockdev-add', { ...image, ...opened })
      added.push(node)
    }
    const actions = overlays.map(({ below, node }) => ({
      type: 'blockdev-snapshot',
      data: { node: below, overlay: node },
    }))
    await qmp.execute('transaction', { actions })
  } catch (error) {
    for (const node of added) await qmp.execute('blockdev-del', { 'node-name': node }).catch(() => {})
    for (const { replacement } of overlays) await rm(replacement, { force: true })
    await discardOverlays(overlays)
    throw error
  }
  // A rename works on a full disk.
  for (const { replacement, path } of overlays) await rename(replacement, path)
  for (const folder of new Set(overlays.map(({ path }) => dirname(path)))) await syncFolder(folder)
}

/** Finishes what a service was killed in: makes the overlays that QEMU writes to the disks of the machine. */
export const adoptOverlays = async (qmp: Qmp, disks: readonly RunningDisk[]): Promise<void> => {
  for (const { name, path } of disks) {
    const file = join(dirname(path), (await findDiskNode(qmp, name)).file)
    if (!basePattern.test(basename(file)) || (await isSameFile(file, path))) continue
    await rm(getUnfinishedPath(path), { force: true })
    await link(file, getUnfinishedPath(path))
    await rename(getUnfinishedPath(path), path)
    await syncFolder(dirname(path))
  }
}
