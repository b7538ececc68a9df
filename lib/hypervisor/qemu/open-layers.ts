import { realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import type { OpenFile } from '#lib/platform/open-file.ts'
import { findImageLayer, type ImageLayers } from './image-layers.ts'
import { openLayer, readLayer } from './layer.ts'

/** Matches the names of base images in a machine's folder. */
export const basePattern = /^base-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.qcow2$/

/**
 * Opens an own disk of a machine and its backing images, from the nearest to the lowest; `stack` closes them. QEMU writes to the
 * disk, so a compromised QEMU could name any file of the host in its header, which QEMU and qemu-img would open. So this throws
 * `conflict` for every backing file that is neither a base image in the folder of a machine nor one of the `images`.
 */
export const openLayers = async (
  disk: string,
  stack: AsyncDisposableStack,
  images: ImageLayers,
): Promise<readonly [OpenFile, ...OpenFile[]]> => {
  const machines = dirname(await realpath(dirname(disk)))
  const layers: OpenFile[] = []
  const top = stack.use(await openLayer(disk))
  for (let { backing } = await readLayer(top); backing !== undefined;) {
    const path = backing
    const image = findImageLayer(path, images)
    if (image !== undefined) {
      // A registered image builds on nothing.
      layers.push(stack.use(await images.open(image)))
      break
    }
    const isBase = basePattern.test(basename(path)) && dirname(dirname(path)) === machines
    if (!isBase || layers.some(layer => layer.path === path))
      throw new ServiceError(
        'conflict',
        `${disk} builds on ${path}, which is no base of a linked clone, so it is not read. Put a whole image in its place.`,
      )
    const file = stack.use(await openLayer(path))
    layers.push(file)
    ;({ backing } = await readLayer(file))
  }
  return [top, ...layers]
}

/** Returns the paths of a disk's backing images, from the nearest to the lowest. Throws as `openLayers`. */
export const listBackingLayers = async (disk: string, images: ImageLayers): Promise<readonly string[]> => {
  await using stack = new AsyncDisposableStack()
  const [, ...layers] = await openLayers(disk, stack, images)
  return layers.map(({ path }) => path)
}
