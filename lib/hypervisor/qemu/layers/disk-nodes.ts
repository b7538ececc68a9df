import { basename } from 'node:path'
import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Qmp } from '../qmp.ts'

/** The used part of QEMU's reply to `query-block`. */
const Devices = z.array(
  z.object({
    qdev: z.string().optional(),
    inserted: z.object({ 'node-name': z.string(), file: z.string() }).optional(),
  }),
)

/** The uppermost image of a disk in QEMU. */
export interface DiskNode {
  /** The name of its node. */
  readonly node: string
  /** The name of its file in the machine's folder. QEMU may know it by a descriptor instead. */
  readonly file: string
}

/** The used part of what stands behind `json:` in the name of a file. */
const FileOptions = z.object({ file: z.object({ filename: z.string() }) })

/** Returns the path of an image by the name that QEMU has for it, which may be JSON with all options of the image. */
const parseFileName = (name: string): string =>
  name.startsWith('json:') ? FileOptions.parse(JSON.parse(name.slice('json:'.length))).file.filename : name

/**
 * Returns the uppermost image of a disk. Its node has the name of the disk until an overlay is put over it. Throws `upstream` if QEMU
 * has no such disk.
 */
export const findDiskNode = async (qmp: Qmp, name: string): Promise<DiskNode> => {
  const devices = await qmp.query('query-block', Devices)
  // The image belongs to the inner device of a virtio disk.
  const devicePaths = new Set([name, `/machine/peripheral/${name}`, `/machine/peripheral/${name}/virtio-backend`])
  const image = devices.find(({ qdev }) => qdev !== undefined && devicePaths.has(qdev))?.inserted
  if (!image) throw new ServiceError('upstream', `QEMU has no disk ${name}.`)
  return { node: image['node-name'], file: basename(parseFileName(image.file)) }
}

/** The used part of QEMU's reply to `x-debug-query-block-graph`. */
const Graph = z.object({
  nodes: z.array(z.object({ id: z.number(), name: z.string() })),
  edges: z.array(z.object({ parent: z.number(), child: z.number(), name: z.string() })),
})

/** Returns the nodes of a disk, the uppermost first. Throws as `findDiskNode`. */
export const listDiskNodes = async (qmp: Qmp, disk: string): Promise<readonly string[]> => {
  const { nodes, edges } = await qmp.query('x-debug-query-block-graph', Graph)
  const listFrom = (node: string): readonly string[] => {
    const parent = nodes.find(({ name }) => name === node)?.id
    const below = edges.find(edge => edge.parent === parent && edge.name === 'backing')?.child
    const next = nodes.find(({ id }) => id === below)?.name
    return next === undefined ? [node] : [node, ...listFrom(next)]
  }
  return listFrom((await findDiskNode(qmp, disk)).node)
}

/** Returns the name of a new node for an overlay of a disk. */
export const generateNodeName = (disk: string): string => `${disk}-${crypto.randomUUID().slice(0, 8)}`

const Nodes = z.array(z.object({ 'node-name': z.string() }))

/** Deletes the images of a disk that no device uses any more: its overlays, the uppermost first, and then its first image. */
export const deleteDiskNodes = async (qmp: Qmp, disk: string): Promise<void> => {
  const nodes = Nodes.parse(await qmp.execute('query-named-block-nodes', { flat: true }))
  const left = new Set(nodes.map(one => one['node-name']).filter(node => node === disk || node.startsWith(`${disk}-`)))
  for (let before = Infinity, failure: unknown; left.size > 0;) {
    if (left.size === before) throw failure
    before = left.size
    // QEMU does not delete a node that another one builds on.
    for (const node of left)
      await qmp.execute('blockdev-del', { 'node-name': node }).then(
        () => left.delete(node),
        (error: unknown) => (failure = error),
      )
  }
}
