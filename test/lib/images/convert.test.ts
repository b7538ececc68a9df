import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { packTar } from '#lib/packs/tar/pack-tar.ts'
import { listPackFiles } from '#lib/packs/pack-files.ts'
import { newFolder } from '../../support/folder.ts'
import { canMount, newSmallDisk } from '../../support/disks/small-disk.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { convert, convertBytes, readDisk } from '../../support/images/conversion.ts'
import { inspectBytes } from '../../support/images/mutations.ts'
import { archive, manifest, ovaFiles, ovf } from '../../support/images/ova-image.ts'
import { qcow2Content, qcow2Image } from '../../support/images/qcow2-image.ts'
import { vhdxContent, vhdxImage } from '../../support/images/vhdx-image.ts'
import { descriptor, sparseVmdk, streamVmdk, vmdkContent } from '../../support/images/vmdk-image.ts'
import { bytesOf } from '../packs/raw-tar.ts'

/** A disk of 24 MB: text, noise, zeros, and an end without room to spare. */
const disk = (): Buffer => {
  const bytes = Buffer.alloc(24 << 20)
  bytes.fill('text that compresses well ', 0, 3 << 20)
  for (let at = 5 << 20; at < 7 << 20; at += 4) bytes.writeUInt32LE((at * 2_654_435_761) >>> 0, at)
  bytes.write('the end', bytes.length - 7)
  return bytes
}

/** The arguments for qemu-img of every kind of image that it writes and the service accepts. */
const accepted: readonly (readonly [what: string, format: string, options?: string, compress?: boolean])[] = [
  ['raw', 'raw'],
  ['qcow2', 'qcow2'],
  ['qcow2 of version 2', 'qcow2', 'compat=0.10'],
  ['qcow2 with compression', 'qcow2', 'compat=1.1', true],
  ['qcow2 of version 2 with compression', 'qcow2', 'compat=0.10', true],
  ['qcow2 with compression by zstd', 'qcow2', 'compression_type=zstd', true],
  ['qcow2 with subclusters', 'qcow2', 'extended_l2=on'],
  ['qcow2 with subclusters and compression', 'qcow2', 'extended_l2=on', true],
  ['qcow2 with small clusters', 'qcow2', 'cluster_size=512'],
  ['qcow2 with small clusters and compression', 'qcow2', 'cluster_size=4k', true],
  ['qcow2 with large clusters', 'qcow2', 'cluster_size=2M'],
  ['qcow2 with large clusters and compression', 'qcow2', 'cluster_size=2M', true],
  ['qcow2 with all its tables', 'qcow2', 'preallocation=metadata'],
  ['qcow2 with all its clusters', 'qcow2', 'preallocation=full'],
  ['qcow2 with lazy reference counts', 'qcow2', 'lazy_refcounts=on,refcount_bits=64'],
  ['vmdk monolithicSparse', 'vmdk', 'subformat=monolithicSparse'],
  ['vmdk monolithicSparse with grains of zeros', 'vmdk', 'subformat=monolithicSparse,zeroed_grain=on'],
  ['vmdk streamOptimized', 'vmdk', 'subformat=streamOptimized'],
  ['vhdx dynamic', 'vhdx', 'subformat=dynamic'],
  ['vhdx dynamic with large blocks', 'vhdx', 'subformat=dynamic,block_size=16M'],
  ['vhdx fixed', 'vhdx', 'subformat=fixed'],
]

/** Those that qemu-img writes and the service refuses, with why. */
const refused: readonly (readonly [what: string, why: RegExp, format: string, options?: string])[] = [
  ['vmdk monolithicFlat', /other files/, 'vmdk', 'subformat=monolithicFlat'],
  ['vmdk twoGbMaxExtentSparse', /other files/, 'vmdk', 'subformat=twoGbMaxExtentSparse'],
  ['vmdk twoGbMaxExtentFlat', /other files/, 'vmdk', 'subformat=twoGbMaxExtentFlat'],
  ['vdi', /VDI/, 'vdi'],
  ['vhd dynamic', /VHD/, 'vpc'],
  ['vhd fixed', /VHD/, 'vpc', 'subformat=fixed'],
  ['qed', /QED/, 'qed'],
  ['parallels', /Parallels/, 'parallels'],
  ['qcow', /QCOW/, 'qcow'],
  ['qcow2 with a data file', /another file|names a file/, 'qcow2', 'data_file=DATA'],
]

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'conversion to qcow2', () => {
  let folder: ReturnType<typeof newFolder>
  let path: (name: string) => string

  beforeEach(() => {
    folder = newFolder()
    path = name => join(folder.path, name)
  })
  afterEach(() => folder[Symbol.dispose]())

  const writeImage = (format: string, options = '', compress = false): string => {
    writeFileSync(path('disk'), disk())
    const extra = options === '' ? [] : ['-o', options.replace('DATA', path('data'))]
    const args = ['convert', '-f', 'raw', '-O', format, ...(compress ? ['-c'] : []), ...extra]
    execFileSync('qemu-img', [...args, path('disk'), path('image')])
    return path('image')
  }

  test.for(accepted)('a guest sees the same disk after the conversion of %s', async ([, format, options, compress]) => {
    const image = writeImage(format, options, compress)
    const progress: number[] = []
    await convert(image, path('target'), { onProgress: fraction => progress.push(fraction) })
    expect(readDisk(folder.path, path('target')).equals(disk())).toBe(true)
    expect(progress.at(-1)).toBe(1)
    expect(progress).toEqual(progress.toSorted((one, other) => one - other))
    const { mode, size } = statSync(path('target'))
    expect(mode & 0o777).toBe(0o600)
    // Zeros became holes.
    expect(size).toBeLessThan(8 << 20)
  })

  test.for(refused)('%s is refused', async ([, why, format, options]) => {
    const converting = convert(writeImage(format, options), path('target'))
    await expect(converting).rejects.toMatchObject({ fault: 'invalid', message: expect.stringMatching(why) })
    expect(existsSync(path('target'))).toBe(false)
  })

  test('an image with a snapshot is refused', async () => {
    const image = writeImage('qcow2')
    execFileSync('qemu-img', ['snapshot', '-c', 'one', image])
    await expect(convert(image, path('target'))).rejects.toMatchObject({ message: expect.stringMatching(/snapshots/) })
  })

  test.for([
    ['qcow2', qcow2Image, qcow2Content],
    ['VMDK', sparseVmdk, vmdkContent],
    ['VMDK stream with a footer', streamVmdk, vmdkContent],
    ['VHDX', vhdxImage, vhdxContent],
    ['OVA', () => archive(ovaFiles()), vmdkContent],
    [
      'qcow2 in an OVA',
      () =>
        archive([
          ['a.ovf', ovf(['b'])],
          ['b', qcow2Image()],
        ]),
      qcow2Content,
    ],
  ] as const)('a guest sees the disk of a %s that was made field by field', async ([, image, content]) => {
    expect((await convertBytes(folder.path, image())).equals(content())).toBe(true)
  })

  test('each disk of an OVA is converted by itself', async () => {
    const files = path('files')
    execFileSync('mkdir', [files])
    const contents = [
      ...ovaFiles(['one.vmdk']).slice(1),
      ['two.vmdk', sparseVmdk()] as const,
      ['three.qcow2', qcow2Image()] as const,
    ]
    const all = [['machine.ovf', ovf(contents.map(([name]) => name))] as const, ...contents]
    for (const [name, content] of [...all, ['machine.mf', manifest(all)] as const])
      writeFileSync(join(files, name), content)
    const image = await bytesOf(packTar(await listPackFiles(files), { kind: 'none' }))
    for (const [index, content] of [vmdkContent(), vmdkContent(), qcow2Content()].entries()) {
      const converted = await convertBytes(folder.path, image, facts =>
        'disks' in facts ? facts.disks[index]! : facts,
      )
      expect(converted.equals(content)).toBe(true)
    }
  })

  test('a raw disk keeps its bytes although they name a file of another format', async () => {
    const secret = path('secret')
    writeFileSync(secret, 'the secret '.repeat(100))
    const text = `json:{"driver":"raw","file":{"driver":"file","filename":"${secret}"}}`
    const image = Buffer.alloc(1 << 20)
    image.write(text)
    expect((await convertBytes(folder.path, image)).equals(image)).toBe(true)
  })

  describe('shows no bytes of a file that the image names, even if the readers had accepted it:', () => {
    const secret = 'the secret of the host '
    const hostile: readonly (readonly [what: string, format: 'qcow2' | 'vmdk', image: (name: string) => Buffer])[] = [
      [
        'a backing image of qcow2',
        'qcow2',
        name => {
          const bytes = qcow2Image()
          bytes.write(name, 200)
          bytes.writeBigUInt64BE(200n, 8)
          bytes.writeUInt32BE(name.length, 16)
          return bytes
        },
      ],
      [
        'a parent of VMDK',
        'vmdk',
        name =>
          sparseVmdk(
            descriptor('monolithicSparse')
              .replace('ffffffff', '00000000')
              .replace('#DDB', `parentFileNameHint="${name}"`),
          ),
      ],
    ]
    test.for(hostile)('%s', async ([, format, image]) => {
      writeFileSync(path('secret'), Buffer.alloc(1 << 20, secret))
      writeFileSync(path('image'), image(path('secret')))
      const length = statSync(path('image')).size
      const facts = { format, virtualSize: 1 << 20, dataSize: 1 << 20, offset: 0, length }
      await expect(inspectBytes(image(path('secret')))).rejects.toMatchObject({ fault: 'invalid' })
      await convert(path('image'), path('target'), { facts })
      expect(readDisk(folder.path, path('target')).includes(secret)).toBe(false)
    })
  })

  test('an image with more content than was found in it is ended, and leaves nothing', async () => {
    const image = writeImage('raw')
    const facts = { format: 'raw', virtualSize: 24 << 20, dataSize: 0, offset: 0, length: 24 << 20 } as const
    const converting = convert(image, path('target'), { facts })
    await expect(converting).rejects.toMatchObject({ fault: 'invalid', message: expect.stringMatching(/more content/) })
    expect(existsSync(path('target'))).toBe(false)
  })

  test('damaged compressed data is refused without a path of the host, and leaves nothing', async () => {
    const image = streamVmdk()
    image.fill(0xff, 21 * 512 + 14, 21 * 512 + 30)
    const converting = convertBytes(folder.path, image)
    await expect(converting).rejects.toMatchObject({ fault: 'invalid', message: expect.stringMatching(/damaged/) })
    await expect(converting).rejects.not.toMatchObject({ message: expect.stringMatching(/\//) })
    expect(readdirSync(folder.path).filter(name => name.endsWith('.qcow2'))).toEqual([])
  })

  test('a deadline ends it, and it leaves nothing', async () => {
    const image = writeImage('raw')
    truncateSync(image, 64 * 2 ** 30)
    const reason = new Error('enough')
    const controller = new AbortController()
    const onProgress = (): void => controller.abort(reason)
    await expect(convert(image, path('target'), { deadline: controller.signal, onProgress })).rejects.toBe(reason)
    expect(existsSync(path('target'))).toBe(false)
  })

  test('what is at the target already stays as it is', async () => {
    const image = writeImage('raw')
    writeFileSync(path('target'), 'something else')
    await expect(convert(image, path('target'))).rejects.toMatchObject({ code: 'EEXIST' })
    expect(statSync(path('target')).size).toBe(14)
  })

  test.skipIf(!canMount)(canMount ? 'a full disk is no-space, and nothing stays' : 'may not mount', async () => {
    using small = newSmallDisk(4)
    const image = writeImage('raw')
    const converting = convert(image, join(small.path, 'target'))
    await expect(converting).rejects.toMatchObject({ fault: 'no-space' })
    expect(readdirSync(small.path)).toEqual([])
  })

  const isRoot = process.getuid?.() === 0
  test.skipIf(!isRoot)(isRoot ? 'qemu-img runs as the account' : 'is not root', async () => {
    const image = writeImage('qcow2')
    chmodSync(image, 0o600)
    const account = { user: 'nobody', uid: 65_534, gid: 65_534 }
    // The account cannot enter the folder: it opens the two files by their descriptors alone.
    chmodSync(folder.path, 0o700)
    await convert(image, path('target'), { account })
    expect(readDisk(folder.path, path('target')).equals(disk())).toBe(true)
    expect(statSync(path('target'))).toMatchObject({ uid: 0, gid: 0, mode: 0o100600 })
    expect(statSync(image)).toMatchObject({ uid: 0, mode: 0o100640 })
  })
})
