import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { limitLogSize, openSerialLog } from '#lib/hypervisor/files/serial-log.ts'
import { readSerialOutput } from '#lib/hypervisor/files/serial-output.ts'
import { listRotatedParts } from '#lib/hypervisor/files/serial-parts.ts'
import { newFolder } from '../../support/folder.ts'
import { canMount, newSmallDisk } from '../../support/disks/small-disk.ts'

const limit = 1000

const open = (path: string) => {
  const dropped: unknown[] = []
  const log = openSerialLog(path, { limit, onDrop: error => dropped.push(error) })
  return { say: (text: string) => log.write(Buffer.from(text)), dropped, [Symbol.dispose]: () => log[Symbol.dispose]() }
}

test('the log keeps the newest output without gaps, and never more than twice the limit', () => {
  using folder = newFolder()
  const path = join(folder.path, 'serial.log')
  using log = open(path)
  let said = ''
  for (let at = 0; at < 500; at += 1) {
    const line = `line ${at}\n`
    said += line
    log.say(line)
    expect(statSync(path).size).toBeLessThanOrEqual(limit)
  }
  const [rotated, ...older] = listRotatedParts(path)
  expect(older).toEqual([])
  const kept = readFileSync(rotated!.path, 'latin1') + readFileSync(path, 'latin1')
  expect(said.slice(rotated!.start)).toBe(kept)
  expect(kept.length).toBeGreaterThan(limit)
  expect(kept.length).toBeLessThanOrEqual(2 * limit)
  expect(said.endsWith(kept)).toBe(true)
  expect(log.dropped).toEqual([])
})

test('an existing log is continued, and logs of a larger limit are shortened', () => {
  using folder = newFolder()
  const path = join(folder.path, 'serial.log')
  writeFileSync(`${path}.1`, 'a'.repeat(5 * limit))
  writeFileSync(path, `${'b'.repeat(3 * limit)}the end`)
  using log = open(path)
  log.say('more')
  expect(readFileSync(path, 'latin1')).toBe('more')
  const [rotated] = listRotatedParts(path)
  // The rotated log of an earlier version counts as one that begins at byte 1.
  expect(rotated).toMatchObject({ start: 1 + 5 * limit + 3 * limit + 'the end'.length - limit, size: limit })
  const aside = readFileSync(rotated!.path, 'latin1')
  expect(aside).toHaveLength(limit)
  expect(aside.endsWith('the end')).toBe(true)
})

test('a log that another process appends to is truncated, and its end is kept', () => {
  using folder = newFolder()
  const path = join(folder.path, 'serial.log')
  writeFileSync(path, 'x'.repeat(limit))
  limitLogSize(path, limit)
  expect(existsSync(`${path}.1`)).toBe(false)
  writeFileSync(path, 'the end', { flag: 'a' })
  limitLogSize(path, limit)
  expect(statSync(path).size).toBe(0)
  expect(readFileSync(`${path}.1`, 'latin1')).toBe(`${'x'.repeat(limit - 7)}the end`)
})

test('output that cannot be written is dropped and reported once, and later output is written again', () => {
  using folder = newFolder()
  const path = join(folder.path, 'later', 'serial.log')
  using log = open(path)
  log.say('lost')
  log.say('lost too')
  expect(log.dropped).toMatchObject([{ code: 'ENOENT' }])
  mkdirSync(join(folder.path, 'later'))
  log.say('kept')
  expect(readFileSync(path, 'latin1')).toBe('kept')
})

test.skipIf(!canMount)('a full disk only drops output (needs the right to mount)', () => {
  using disk = newSmallDisk(1)
  using log = open(join(disk.path, 'serial.log'))
  disk.fill()
  for (let at = 0; at < 100; at += 1) log.say('x'.repeat(10_000))
  expect(log.dropped).toMatchObject([{ code: 'ENOSPC' }])
})

test('a pipe or a device in place of the log is refused and does not block', () => {
  using folder = newFolder()
  const pipe = join(folder.path, 'serial.log')
  execFileSync('mkfifo', [pipe])
  using log = open(pipe)
  log.say('lost')
  expect(log.dropped).toMatchObject([{ code: 'ENXIO' }])
  using device = open('/dev/null')
  device.say('lost')
  expect(device.dropped).toMatchObject([{ message: expect.stringContaining('no regular file') }])
})

test('a link in place of the log does not truncate its target', () => {
  using folder = newFolder()
  const [path, other] = [join(folder.path, 'serial.log'), join(folder.path, 'other')]
  writeFileSync(other, 'x'.repeat(1_000_000))
  symlinkSync(other, path)
  using log = open(path)
  log.say('lost')
  limitLogSize(path, 10)
  expect(statSync(other).size).toBe(1_000_000)
})

test('a link in place of the log is not followed', () => {
  using folder = newFolder()
  const path = join(folder.path, 'serial.log')
  const other = join(folder.path, 'other')
  writeFileSync(other, 'before')
  symlinkSync(other, path)
  using log = open(path)
  log.say('after')
  expect(log.dropped).toMatchObject([{ code: 'ELOOP' }])
  expect(readFileSync(other, 'latin1')).toBe('before')
})

test('a crash in a rotation neither shifts an offset nor leaves more than the log may have', () => {
  using folder = newFolder()
  const path = join(folder.path, 'serial.log')
  writeFileSync(`${path}.100`, 'a'.repeat(limit))
  writeFileSync(`${path}.${100 + limit}`, 'b'.repeat(limit))
  using log = open(path)
  log.say('c')
  expect(listRotatedParts(path).map(({ start }) => start)).toEqual([100 + limit])
  expect(readFileSync(path, 'latin1')).toBe('c')
})

test('readers get what was written at its offset, also while the log is rotated again and again', async () => {
  using folder = newFolder()
  using log = open(join(folder.path, 'serial.log'))
  let said = ''
  let position = 0
  for (let at = 0; at < 300; at += 1) {
    const reading = readSerialOutput(folder.path, position, 64)
    const line = `line ${at}\n`
    said += line
    log.say(line)
    const { bytes, offset, start, end } = await reading
    expect(offset).toBeGreaterThanOrEqual(position)
    expect(said.slice(offset, offset + bytes.length)).toBe(bytes.toString('latin1'))
    expect(start).toBeLessThanOrEqual(offset)
    expect(end).toBeGreaterThanOrEqual(offset + bytes.length)
    position = offset + bytes.length
  }
  expect((await readSerialOutput(folder.path, -5, 64)).bytes.toString()).toBe(said.slice(-5))
  expect(await readSerialOutput(folder.path, 0, 0)).toMatchObject({ end: said.length })
  expect(await readSerialOutput(join(folder.path, 'nothing'), 7, 64)).toMatchObject({ offset: 0, end: 0 })
})
