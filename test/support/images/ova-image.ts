import { createHash } from 'node:crypto'
import { entry, tar } from '../../lib/packs/raw-tar.ts'
import { streamVmdk } from './vmdk-image.ts'

interface Disk {
  readonly file?: string
  readonly disk?: string
}

/** An OVF descriptor. `file` and `disk` are more attributes of the file and of the disk. */
export const ovf = (names: readonly string[], { file = '', disk = '' }: Disk = {}): string => `<?xml version="1.0"?>
<Envelope xmlns="http://schemas.dmtf.org/ovf/envelope/1" xmlns:ovf="http://schemas.dmtf.org/ovf/envelope/1">
  <References>
    ${names.map((name, index) => `<File ovf:href="${name}" ovf:id="file${index}" ${file}/>`).join('\n    ')}
  </References>
  <DiskSection>
    <Info>Disks &amp; their sizes</Info>
    ${names
      .map(
        (_, index) =>
          `<Disk ovf:capacity="1" ovf:capacityAllocationUnits="byte * 2^20" ovf:diskId="disk${index}" ovf:fileRef="file${index}" ${disk}/>`,
      )
      .join('\n    ')}
  </DiskSection>
  <VirtualSystem ovf:id="machine"><Info>A machine</Info></VirtualSystem>
</Envelope>
`

type Files = readonly (readonly [name: string, content: string | Uint8Array])[]

export const digestLine = (name: string, content: string | Uint8Array, algorithm = 'SHA256'): string =>
  `${algorithm}(${name})= ${createHash(algorithm).update(content).digest('hex')}\n`

/** A manifest of these files. */
export const manifest = (files: Files): string => files.map(([name, content]) => digestLine(name, content)).join('')

export const archive = (files: Files): Buffer => tar(...files.map(([name, content]) => entry({ name, content })))

/** The files of an OVA with one disk. */
export const ovaFiles = (names: readonly string[] = ['disk.vmdk']): Files => [
  ['machine.ovf', ovf(names)],
  ...names.map(name => [name, streamVmdk()] as const),
]
