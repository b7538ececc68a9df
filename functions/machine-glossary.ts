import type { recordTemplate } from '#lib/machines/record-template.ts'
import { hardwareGlossary } from './hardware-glossary.ts'
import { poolGlossary } from './pool-glossary.ts'
import { snapshotGlossary } from './snapshot-glossary.ts'
import { waitGlossary } from './wait-glossary.ts'

/** Ends the description of a setting that only other hypervisors have. */
const fixed = 'of other hypervisors; every machine here has the same value'

const members: Readonly<Record<keyof typeof recordTemplate | 'problem', string>> = {
  ID: 'UUID of the machine',
  Name: 'Name of the machine, unique on the host, case-insensitive',
  Description: 'Text for people',
  Type: 'VM',
  State: 'State of the machine; during an operation it ends in -ing',
  OS: 'Family of the guest operating system',
  Template: 'Whether the machine is a template: yes or no',
  Uptime: 'Seconds that the machine has run; in lists, as of its last state change',
  'Home path': 'File that describes the machine on the host',
  Home: 'Folder of the machine on the host',
  'Restore Image': 'File with the saved memory of a suspended machine; empty otherwise',
  user: 'Operating system account that owns the machine',
  host: 'Name of the host',
  host_id: 'UUID of the host',
  host_url: 'Address of the service on the host',
  host_state: 'Whether the host is healthy',
  host_external_ip_address: 'Address of the host for other hosts',
  internal_ip_address: 'First IP address of the machine, or empty',
  GuestTools: 'State and version of the guest tools',
  'Mouse and Keyboard': `Input settings ${fixed}`,
  'USB and Bluetooth': `Sharing of devices ${fixed}`,
  'Startup and Shutdown': `Settings for starting and stopping ${fixed}`,
  Optimization: 'Hypervisor type, and tuning settings of other hypervisors',
  'Travel mode': `Settings for travelling ${fixed}`,
  Security: `Encryption and protection ${fixed}`,
  'Smart Guard': `Automatic snapshots ${fixed}`,
  Modality: `Window settings ${fixed}`,
  Fullscreen: `Full screen settings ${fixed}`,
  Coherence: `Window integration ${fixed}`,
  'Time Synchronization': `Clock settings ${fixed}`,
  Expiration: `Expiry ${fixed}`,
  'Boot order': 'Devices that the machine boots from, in order',
  'BIOS type': 'Firmware of the machine',
  'EFI Secure boot': 'Whether secure boot is on: on or off',
  'Allow select boot device': `Boot menu ${fixed}`,
  'External boot device': `Boot device ${fixed}`,
  'SMBIOS settings': `SMBIOS data ${fixed}`,
  Hardware:
    'CPUs, memory, disks, network cards and other devices. Further disks are hdd1, hdd2 and so on, with the members of hdd0; likewise cdrom1 and net1',
  'Host Shared Folders': `Folders of the host ${fixed}`,
  'Host defined sharing': `Sharing ${fixed}`,
  'Shared Profile': `Profile folders ${fixed}`,
  'Shared Applications': `Application sharing ${fixed}`,
  SmartMount: `Mounting of host devices ${fixed}`,
  'Miscellaneous Sharing': `Clipboard and cloud sharing ${fixed}`,
  Advanced: `Advanced settings ${fixed}`,
  'Print Management': `Printer settings ${fixed}`,
  'Guest Shared Folders': `Folders of the guest ${fixed}`,
  Network: 'IP addresses of the machine, and shaping of its traffic',
  problem: 'What is wrong with the machine; absent if nothing is',
}

/** Descriptions of machines for the OpenAPI document: the members of the record, its hardware, and what consoles and waits have. */
export const machineGlossary: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(members).map(([name, text]) => [`Machine.${name}`, text])),
  ...hardwareGlossary,
  ...poolGlossary,
  ...snapshotGlossary,
  ...waitGlossary,
}
