import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openQemuBench, type QemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'saved memory', () => {
  const suspended = async (bench: QemuBench, name: string) => {
    const { id, home } = await bench.create(name)
    await bench.run(id, 'start')
    const tick = await bench.nextTick(id)
    await bench.run(id, 'suspend')
    return { id, tick, memory: join(home, 'state.mem'), note: join(home, 'state.json') }
  }
  const refuses = async (bench: QemuBench, id: string, why: RegExp): Promise<void> => {
    await expect(bench.run(id, 'resume')).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringMatching(why),
    })
    expect(await bench.get(id)).toMatchObject({ state: 'suspended', problem: expect.stringMatching(why) })
  }

  test('goes on with the machine and the suspension that it is of, whole, and with no other', async () => {
    await using bench = await openQemuBench()
    const [one, two] = [await suspended(bench, 'one'), await suspended(bench, 'two')]
    const kept = join(bench.folder, 'kept')
    copyFileSync(one.memory, kept)
    copyFileSync(two.memory, one.memory)
    await refuses(bench, one.id, /is not the memory that was saved/)
    await bench.close()
    await bench.open()
    await refuses(bench, one.id, /is not the memory that was saved/)
    copyFileSync(kept, one.memory)
    truncateSync(one.memory, readFileSync(kept).length - 3)
    await refuses(bench, one.id, /bytes/)
    for (const bytes of ['', 'garbage', readFileSync(kept).subarray(0, 600)]) {
      writeFileSync(one.memory, bytes)
      await refuses(bench, one.id, /is not the memory|bytes/)
    }
    copyFileSync(kept, one.memory)
    await bench.run(one.id, 'resume')
    expect(await bench.nextTick(one.id)).toBeGreaterThan(one.tick)
    await bench.run(one.id, 'suspend')
    renameSync(kept, one.memory)
    await refuses(bench, one.id, /is not the memory that was saved/)
    await bench.run(one.id, 'stop', { force: true })
    expect(await bench.listSavedMemory(one.id)).toEqual([])
    await bench.run(two.id, 'resume')
    expect(await bench.nextTick(two.id)).toBeGreaterThan(two.tick)
  })

  test('that is a pipe or a link holds nobody, and is not followed', async () => {
    await using bench = await openQemuBench()
    const { id, memory } = await suspended(bench, 'one')
    const kept = join(bench.folder, 'kept')
    renameSync(memory, kept)
    execFileSync('mkfifo', [memory])
    await refuses(bench, id, /not a regular file/)
    rmSync(memory)
    symlinkSync(kept, memory)
    await refuses(bench, id, /not a regular file/)
    rmSync(memory)
    await refuses(bench, id, /state\.mem cannot be used.*Put the file there/)
    renameSync(kept, memory)
    await bench.run(id, 'resume')
    await bench.nextTick(id)
  })

  test('of before there was a note of it is resumed', async () => {
    await using bench = await openQemuBench()
    const { id, tick, memory, note } = await suspended(bench, 'one')
    const bytes = readFileSync(memory)
    rmSync(note)
    await refuses(bench, id, /is not the memory of this machine/)
    writeFileSync(memory, bytes.subarray(bytes.indexOf('QEVM')))
    await bench.close()
    await bench.open()
    await bench.run(id, 'resume')
    expect(await bench.nextTick(id)).toBeGreaterThan(tick)
  })
})
