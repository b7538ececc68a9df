/** Descriptions of the disks, drives and network cards in the record of a machine, for the OpenAPI document. */
export const hardwareGlossary: Readonly<Record<string, string>> = {
  'MachineDisk.enabled': 'Whether the machine has the disk',
  'MachineDisk.port': 'Bus of the disk and its number there, such as virtio:0',
  'MachineDisk.image': 'File of the disk on the host',
  'MachineDisk.type': 'expanded: the file grows with what the guest writes; plain: the file has the size of the disk',
  'MachineDisk.size': 'Size that the guest sees, such as 20480Mb',
  'MachineDisk.online-compact': 'Whether the file shrinks while the machine runs: always off',
  'MachineDrive.enabled': 'Whether the machine has the drive',
  'MachineDrive.port': 'Bus of the drive and its number there, such as sata:0',
  'MachineDrive.image': 'File or registered image of the inserted disc, or empty',
  'MachineDrive.state': 'connected when a disc is inserted, else disconnected',
  'MachineNetworkCard.enabled': 'Whether the machine has the card',
  'MachineNetworkCard.type': 'Network that the card is connected to',
  'MachineNetworkCard.mac': 'MAC address: twelve hexadecimal digits without separators',
  'MachineNetworkCard.card': 'Model of the card that the guest sees',
}
