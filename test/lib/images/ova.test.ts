import { describe, expect, test } from 'vitest'
import { inspectImage } from '#lib/images/formats/inspect-image.ts'
import { end, entry, pax, tar } from '../packs/raw-tar.ts'
import { type HostileImage, inspectBytes, testRefusals } from '../../support/images/mutations.ts'
import { archive, digestLine, manifest, ovaFiles, ovf } from '../../support/images/ova-image.ts'
import { createCountingFile } from '../../support/images/counting-file.ts'
import { qcow2Image } from '../../support/images/qcow2-image.ts'
import { sparseVmdk, descriptor, streamVmdk } from '../../support/images/vmdk-image.ts'

const disk = streamVmdk()
const descriptorFile = entry({ name: 'machine.ovf', content: ovf(['disk.vmdk']) })
const diskFile = entry({ name: 'disk.vmdk', content: disk })
const withDescriptor = (what: string, text: string, why: RegExp): HostileImage => [
  what,
  () =>
    archive([
      ['machine.ovf', text],
      ['disk.vmdk', disk],
    ]),
  why,
]
const withDisk = (what: string, content: string | Uint8Array, why: RegExp): HostileImage => [
  what,
  () =>
    archive([
      ['machine.ovf', ovf(['disk.vmdk'])],
      ['disk.vmdk', content],
    ]),
  why,
]
const withManifest = (what: string, text: string, why: RegExp): HostileImage => [
  what,
  () => archive([...ovaFiles(), ['machine.mf', text]]),
  why,
]
const withEntry = (what: string, why: RegExp, ...parts: readonly Buffer[]): HostileImage => [
  what,
  () => tar(descriptorFile, diskFile, ...parts),
  why,
]

const archives: readonly HostileImage[] = [
  ['it has no files', () => tar(entry({ name: 'a', type: '5' })), /in a folder/],
  ['it has no descriptor', () => tar(diskFile), /without a descriptor/],
  ['it is cut off in a disk', () => Buffer.concat([descriptorFile, diskFile.subarray(0, 5000)]), /cut off/],
  ['it is cut off in a header', () => Buffer.concat([descriptorFile, diskFile.subarray(0, 300)]), /cut off/],
  ['it is cut off before its disk', () => descriptorFile, /names "disk.vmdk", which it lacks/],
  ['a size is larger than the file', () => tar(descriptorFile, entry({ name: 'disk.vmdk', size: 1e9 })), /cut off/],
  [
    'something follows its end',
    () => Buffer.concat([tar(descriptorFile, diskFile), Buffer.alloc(9, 1)]),
    /behind its end/,
  ],
  [
    'it has headers without end',
    () => tar(...Array.from({ length: 6 }, () => pax({ comment: 'x' })), end),
    /without end/,
  ],
  [
    'it has too many files',
    () => tar(...Array.from({ length: 257 }, (_, at) => entry({ name: `f${at}` }))),
    /more than 256/,
  ],
  withEntry('it has a symbolic link', /symbolic link/, entry({ name: 'x.vmdk', type: '2', link: '/etc/hostname' })),
  withEntry('it has a hard link', /hard link/, entry({ name: 'x.vmdk', type: '1', link: '/etc/hostname' })),
  withEntry('it has a device', /device/, entry({ name: 'x', type: '4' })),
  withEntry('it has a pipe', /pipe/, entry({ name: 'x', type: '6' })),
  withEntry('it has a sparse file', /sparse/, entry({ name: 'x', type: 'S' })),
  withEntry('it has a sparse file of PAX', /sparse/, pax({ 'GNU.sparse.major': '1' }), entry({ name: 'x' })),
  withEntry('it has a link of PAX', /link/, pax({ linkpath: '/etc/hostname' }), entry({ name: 'x' })),
  withEntry('it has a folder', /in a folder/, entry({ name: 'a/', type: '5' })),
  withEntry('it has a file in a folder', /in a folder/, entry({ name: 'a/b.vmdk' })),
  withEntry('it has a file in the folder above', /in a folder/, entry({ name: '../b.vmdk' })),
  withEntry('it has the name ..', /segment/, entry({ name: '..' })),
  withEntry('it has an empty name', /empty/, entry({ name: '' })),
  withEntry('it has a name of Windows', /backslash/, entry({ name: 'a\\b' })),
  withEntry('it has a name with a newline', /control/, entry({ name: 'a\nb' })),
  withEntry('it has its disk twice', /"disk.vmdk" twice/, diskFile),
  withEntry('it has two descriptors', /two files \*.ovf/, entry({ name: 'other.ovf', content: ovf([]) })),
  withEntry('it has a header that is damaged', /damaged/, entry({ name: 'x', checksum: 1 })),
]

const descriptors: readonly HostileImage[] = [
  withDescriptor('its descriptor is empty', '', /no OVF document/),
  withDescriptor('its descriptor is no XML', 'Envelope', /no OVF document/),
  withDescriptor('its descriptor is cut off', ovf(['disk.vmdk']).slice(0, 300), /no XML that can be read/),
  withDescriptor('its descriptor is wrongly nested', '<Envelope><a></Envelope></a>', /no XML that can be read/),
  withDescriptor('its descriptor is nested too deeply', '<Envelope>'.repeat(200), /no XML that can be read/),
  withDescriptor('its descriptor is something else', '<html></html>', /no OVF document/),
  withDescriptor('its descriptor is too large', `<Envelope>${' '.repeat(2 ** 20)}</Envelope>`, /larger than 1 MB/),
  withDescriptor('its descriptor has no disk', ovf([]), /no disk/),
  withDescriptor('its descriptor has an attribute twice', ovf(['disk.vmdk'], { disk: 'ovf:diskId="x"' }), /no XML/),
  withDescriptor(
    'its disk builds on another',
    ovf(['disk.vmdk'], { disk: 'ovf:parentRef="disk9"' }),
    /builds on another/,
  ),
  withDescriptor('its disk has no file', ovf(['disk.vmdk']).replace('ovf:fileRef="file0"', ''), /has no file/),
  withDescriptor(
    'its disk has an unknown file',
    ovf(['disk.vmdk']).replace('fileRef="file0"', 'fileRef="x"'),
    /which it lacks/,
  ),
  withDescriptor('its file has no name', ovf(['disk.vmdk']).replace('ovf:href="disk.vmdk"', ''), /without a name/),
  withDescriptor('its file has no id', ovf(['disk.vmdk']).replace('ovf:id="file0"', ''), /without an id/),
  withDescriptor('it has a file twice', ovf(['disk.vmdk', 'b.vmdk']).replace('file1', 'file0'), /"file0" twice/),
  withDescriptor('two disks have one file', ovf(['disk.vmdk', 'disk.vmdk']), /have one file/),
  withDescriptor('its file is compressed', ovf(['disk.vmdk'], { file: 'ovf:compression="gzip"' }), /is compressed/),
  withDescriptor('its file is in parts', ovf(['disk.vmdk'], { file: 'ovf:chunkSize="99"' }), /several files/),
  withDescriptor('its file is absolute', ovf(['/etc/hostname']), /which it lacks/),
  withDescriptor('its file is a URL', ovf(['file:///etc/hostname']), /which it lacks/),
  withDescriptor('its file is on a server', ovf(['http://127.0.0.1/disk.vmdk']), /which it lacks/),
  withDescriptor('its file is above', ovf(['../disk.vmdk']), /which it lacks/),
  withDescriptor(
    'its file is an entity',
    `<!DOCTYPE x [<!ENTITY f SYSTEM "/etc/hostname">]>${ovf(['&f;'])}`,
    /which it lacks/,
  ),
  withDescriptor('its file is its descriptor', ovf(['machine.ovf']), /no multiple of 512/),
]

const disks: readonly HostileImage[] = [
  withDisk('its disk is empty', '', /disk is empty/),
  withDisk('its disk is no image', 'x'.repeat(512), /no image of a disk/),
  withDisk('its disk is an archive', archive(ovaFiles()), /no image of a disk/),
  withDisk('its disk is a list of files', descriptor('monolithicFlat', 'RW 1 FLAT "/etc/hostname" 0'), /other files/),
  withDisk('its disk is cut off', disk.subarray(0, -512), /cut off/),
  withDisk('its disk is compressed', Buffer.from('1f8b0800', 'hex'), /gzip/),
  withDisk(
    'its disk has a parent',
    sparseVmdk(descriptor('monolithicSparse').replace(/f{8}/, '12345678')),
    /builds on/,
  ),
]

const manifests: readonly HostileImage[] = [
  withManifest('its manifest has no lines', '\n', /does not list "machine.ovf"/),
  withManifest('its manifest is something else', 'hello\n', /cannot be read/),
  withManifest('its manifest lacks its disk', manifest(ovaFiles().slice(0, 1)), /does not list "disk.vmdk"/),
  withManifest('its manifest lacks its descriptor', manifest(ovaFiles().slice(1)), /does not list "machine.ovf"/),
  withManifest('its manifest lists what it lacks', `${manifest(ovaFiles())}${digestLine('x', '')}`, /lists "x", which/),
  withManifest('its manifest lists a file twice', manifest([...ovaFiles(), ...ovaFiles()]), /twice/),
  withManifest('its manifest has another digest', manifest([ovaFiles()[0]!, ['disk.vmdk', 'x']]), /"disk.vmdk" is not/),
  withManifest(
    'its manifest has a digest of MD5',
    'MD5(disk.vmdk)= d41d8cd98f00b204e9800998ecf8427e\n',
    /cannot be read/,
  ),
  withManifest('its manifest is too large', '\n'.repeat(2 ** 20 + 1), /larger than 1 MB/),
]

describe('an OVA', () => {
  test('is accepted with its disks, where they are in the file', async () => {
    const files = [...ovaFiles(['one.vmdk', 'two.vmdk']), ['nvram', 'x'] as const]
    const image = archive([...files, ['machine.mf', manifest(files)]])
    const facts = await inspectBytes(image)
    expect(facts).toMatchObject({
      format: 'ova',
      virtualSize: 2 << 20,
      disks: [{ name: 'one.vmdk' }, { name: 'two.vmdk' }],
    })
    for (const { offset, length } of 'disks' in facts ? facts.disks : [])
      expect(image.subarray(offset, offset + length).equals(disk)).toBe(true)
  })

  test('is accepted with digests of other kinds, and with a disk of another known format', async () => {
    const files = [
      ['machine.ovf', ovf(['disk.qcow2'])],
      ['disk.qcow2', qcow2Image()],
    ] as const
    const text = files.map(([name, content], at) => digestLine(name, content, at === 0 ? 'SHA1' : 'SHA512')).join('')
    await expect(inspectBytes(archive([...files, ['machine.mf', text]]))).resolves.toMatchObject({
      disks: [{ name: 'disk.qcow2', format: 'qcow2' }],
    })
  })

  test('is not read to its end if the caller gives up', async () => {
    const file = createCountingFile(archive([...ovaFiles(), ['machine.mf', manifest(ovaFiles())]]))
    const reason = new Error('enough')
    await expect(inspectImage(file, AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  testRefusals([...archives, ...descriptors, ...disks, ...manifests])
})
