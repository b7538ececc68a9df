/**
 * Describes an image as a block node for QEMU and qemu-img. The paths are that of the image and of its backing images, from the
 * nearest to the lowest. All are named, so that QEMU never opens what a header names.
 */
export const buildBlockNode = (format: 'raw' | 'qcow2', [path, ...layers]: readonly string[]): object => ({
  driver: format,
  ...(format === 'qcow2' && { backing: layers.length === 0 ? null : buildBlockNode('qcow2', layers) }),
  file: { driver: 'file', filename: path },
})
