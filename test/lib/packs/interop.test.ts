import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { listPackFiles } from '#lib/packs/pack-files.ts'
import { encodeFileHeader } from '#lib/packs/tar/header.ts'
import { readHeader } from '#lib/packs/tar/read-header.ts'
import { unpackTar } from '#lib/packs/tar/unpack-tar.ts'
import { packTar } from '#lib/packs/tar/pack-tar.ts'
import type { Compression } from '#lib/packs/tar/pack-tar.ts'
import { newFolder } from '../../support/folder.ts'
import { bytesOf, entry, streamOf, tar } from './raw-tar.ts'

const limits = { entries: 100, bytes: 64 * 1024 ** 2, ratio: 10_000 }
const gnuTar = spawnSync('tar', ['--version'], { encoding: 'utf8' }).stdout?.includes('GNU tar') ?? false
const zstd = spawnSync('zstd', ['--version']).status === 0

const machine: Readonly<Record<string, Buffer>> = {
  'config.pvs': Buffer.from('<config/>'),
  'harddisk.hdd/harddisk.hdd': Buffer.concat([Buffer.alloc(100_000, 7), Buffer.alloc(900_000), Buffer.from('end')]),
  empty: Buffer.alloc(0),
  'Größe/Ünïcode 日本語.txt': Buffer.from('names'),
  [`${'long-'.repeat(19)}name/${'longer-'.repeat(20)}name`]: Buffer.from('long'),
  [`a/${'x'.repeat(98)}`]: Buffer.from('a hundred bytes'),
  [`b/${'x'.repeat(99)}`]: Buffer.from('one more'),
  'exactly-a-block': Buffer.alloc(512, 1),
}

const fill = (folder: string): void => {
  for (const [name, bytes] of Object.entries(machine)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), bytes)
    chmodSync(join(folder, name), name === 'empty' ? 0o755 : 0o644)
    utimesSync(join(folder, name), 1_700_000_000, 1_700_000_000)
  }
}

const expectSame = (folder: string): void => {
  for (const [name, bytes] of Object.entries(machine))
    expect(readFileSync(join(folder, name)).equals(bytes), name).toBe(true)
}

describe.skipIf(!gnuTar)('GNU tar (skipped where there is none)', () => {
  const kinds: readonly (readonly [Compression, string])[] = [
    [{ kind: 'none' }, '--no-auto-compress'],
    [{ kind: 'gzip', level: 6 }, '--gzip'],
    ...(zstd ? [[{ kind: 'zstd', level: 3 }, '--zstd'] as const] : []),
  ]

  test.each(kinds)('unpacks ours: %j', async (compression, flag) => {
    using source = newFolder()
    using target = newFolder()
    fill(source.path)
    const input = await bytesOf(packTar(await listPackFiles(source.path), compression))
    const { status, stderr } = spawnSync('tar', ['-x', flag, '-f', '-', '-C', target.path], { input, encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expectSame(target.path)
    const compared = spawnSync('tar', ['-d', flag, '-f', '-', '-C', source.path], { input, encoding: 'utf8' })
    expect(compared.stdout.split('\n').filter(line => !/Uid differs|Gid differs/.test(line))).toEqual([''])
  })

  const formats = ['gnu', 'posix', 'pax', 'oldgnu']
  test.each(formats.flatMap(format => kinds.map(([, flag]) => [format, flag])))(
    'packs %s %s, which we unpack',
    async (format, flag) => {
      using source = newFolder()
      using target = newFolder()
      fill(source.path)
      const argv = ['-c', `--format=${format}`, flag, '-f', '-', '-C', source.path, '.']
      const packed = execFileSync('tar', argv, { maxBuffer: 1 << 26 })
      const files = await unpackTar(streamOf(packed, 5000), target.path, { limits })
      expect(files.map(({ name }) => name).toSorted()).toEqual(Object.keys(machine).toSorted())
      expectSame(target.path)
      const again = await bytesOf(packTar(await listPackFiles(target.path), { kind: 'none' }))
      expect(again.equals(await bytesOf(packTar(await listPackFiles(source.path), { kind: 'none' })))).toBe(true)
    },
  )

  test.each(['v7', 'ustar'])('packs %s, which we unpack', async format => {
    using source = newFolder()
    using target = newFolder()
    mkdirSync(join(source.path, 'd'.repeat(60)))
    writeFileSync(join(source.path, 'd'.repeat(60), 'e'.repeat(format === 'v7' ? 30 : 90)), 'content')
    const packed = execFileSync('tar', ['-c', `--format=${format}`, '-C', source.path, 'd'.repeat(60)])
    expect(await unpackTar(streamOf(packed), target.path, { limits })).toMatchObject([{ size: 7 }])
  })

  test.each(['gnu', 'posix'])('packs %s --sparse, which we refuse with the reason', async format => {
    using source = newFolder()
    using target = newFolder()
    writeFileSync(join(source.path, 'disk'), 'x')
    truncateSync(join(source.path, 'disk'), 10_000_000)
    const packed = execFileSync('tar', ['-c', '--sparse', `--format=${format}`, '-C', source.path, 'disk'])
    await expect(unpackTar(streamOf(packed), target.path, { limits })).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringContaining('without --sparse'),
    })
  })

  test('packs --sparse a folder without sparse files, which we unpack', async () => {
    using source = newFolder()
    using target = newFolder()
    writeFileSync(join(source.path, 'disk'), Buffer.alloc(10_000, 1))
    const packed = execFileSync('tar', ['-c', '--sparse', '-C', source.path, 'disk'])
    expect(await unpackTar(streamOf(packed), target.path, { limits })).toMatchObject([{ name: 'disk', size: 10_000 }])
  })

  test.each([2 ** 33 - 1, 2 ** 33, 5_000_000_000_000])('reads in our header the size %d', size => {
    const header = encodeFileHeader({ name: 'disk', size, mode: 0o644, modifiedAt: new Date(0) })
    const { stdout } = spawnSync('tar', ['-tvf', '-'], { input: header, encoding: 'utf8' })
    expect(stdout).toContain(` ${size} 1970-01-01`)
    expect(header.length).toBe(size < 2 ** 33 ? 512 : 1536)
  })

  test('encodes a size beyond 8 GiB in its own form, which we read', () => {
    using folder = newFolder()
    writeFileSync(join(folder.path, 'disk'), '')
    truncateSync(join(folder.path, 'disk'), 2 ** 33 + 5)
    // Only the first block is of interest; tar ends when nobody reads on.
    const { stdout } = spawnSync('sh', ['-c', 'tar -c --format=gnu disk 2>/dev/null | head -c 512'], {
      cwd: folder.path,
    })
    expect(readHeader(stdout)).toMatchObject({ type: '0', name: 'disk', size: 2 ** 33 + 5 })
  })
})

describe('packs of other services', () => {
  const legacy = Buffer.concat([
    entry({ name: '/config.pvs', content: 'hello' }),
    entry({ name: '/harddisk.hdd/harddisk.hdd', content: 'x'.repeat(1000) }),
  ])

  test.each([
    ['gzip without the last padding and the end', gzipSync(legacy.subarray(0, 2536))],
    ['tar without the last padding and the end', legacy.subarray(0, 2536)],
    ['tar without the end', legacy],
    ['tar with half an end', Buffer.concat([legacy, Buffer.alloc(512)])],
    ['gzip in two members', Buffer.concat([gzipSync(legacy.subarray(0, 700)), gzipSync(legacy.subarray(700))])],
    ['tar of one empty file without an end', entry({ name: '/config.pvs' })],
  ])('are read: %s', async (_, packed) => {
    using target = newFolder()
    const files = await unpackTar(streamOf(packed), target.path, { limits })
    expect(files[0]?.name).toBe('config.pvs')
    if (files.length > 1)
      expect(readFileSync(join(target.path, 'harddisk.hdd/harddisk.hdd'), 'utf8')).toHaveLength(1000)
  })

  test('keep their first folder', async () => {
    using target = newFolder()
    const files = await unpackTar(streamOf(tar(entry({ name: '/w.pvm/config.pvs' }))), target.path, { limits })
    expect(files.map(({ name }) => name)).toEqual(['w.pvm/config.pvs'])
  })

  test('read ours as they are: a plain tar header by header', async () => {
    using source = newFolder()
    writeFileSync(join(source.path, 'a'), 'hello')
    const packed = gunzipSync(await bytesOf(packTar(await listPackFiles(source.path), { kind: 'gzip', level: -1 })))
    expect(packed.length).toBe(512 + 512 + 1024)
    expect(packed.toString('latin1', 257, 265)).toBe('ustar\x0000')
    expect(packed.toString('latin1', 108, 124)).toBe('0000000\x000000000\0')
    expect(packed.subarray(1024).every(byte => byte === 0)).toBe(true)
  })
})
