/**
 * Returns the arguments for the CD-ROM from which cloud-init reads. It is on a SCSI bus of virtio: the kernels that Debian builds
 * for clouds drive no AHCI, and a CD-ROM does not take the name of a disk in the guest.
 */
export const buildSeedArguments = (path: string | undefined): string[] => {
  if (path === undefined) return []
  const node = {
    ...{ 'node-name': 'seed', driver: 'raw', 'read-only': true },
    file: { driver: 'file', filename: path, 'read-only': true },
  }
  return [
    ...['-blockdev', JSON.stringify(node)],
    ...['-device', JSON.stringify({ driver: 'virtio-scsi-pci', id: 'seedbus' })],
    ...['-device', JSON.stringify({ driver: 'scsi-cd', bus: 'seedbus.0', drive: 'seed' })],
  ]
}
