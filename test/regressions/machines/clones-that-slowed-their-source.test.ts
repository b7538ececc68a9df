import { spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { HypervisorDriver, MachineView } from '#lib/hypervisor/driver.ts'
import { findQemu } from '#lib/hypervisor/qemu/programs.ts'
import { newFolder } from '../../support/folder.ts'
import { freezeByHand, imageLayers, readPatterns, writePattern } from '../../support/disks/qcow2-disk.ts'
import { createQemu, withoutQemu } from '../../support/drivers/qemu.ts'

describe.skipIf(withoutQemu)(withoutQemu ? 'QEMU is not installed' : 'linked clones of one source', () => {
  let folder: ReturnType<typeof newFolder>
  let driver: HypervisorDriver
  let source: MachineView
  let img: string

  const machines = (): string => join(folder.path, 'machines')
  const deadline = new AbortController().signal
  const open = async (): Promise<void> => {
    img = (await findQemu())!.img
    driver = await createQemu(machines())
    await driver.open(() => {})
  }
  const clone = (name: string, from = source): Promise<MachineView> =>
    driver.clone(from.id, name, { linked: true, deadline, onProgress: () => {} })
  const diskOf = ({ home }: MachineView): string => join(home, 'disk0.qcow2')
  const filesOf = async ({ home }: MachineView): Promise<readonly string[]> => (await readdir(home)).toSorted()

  beforeEach(async () => {
    folder = newFolder()
    await open()
    source = await driver.create({ name: 'source', description: '', cpus: 1, memory: 16, disks: [{ size: 64 }] })
    await writePattern(diskOf(source), 0, 1)
  })
  afterEach(async () => {
    await driver.close()
    folder[Symbol.dispose]()
  })

  test('forty in a loop, each deleted, leave the source as the first did', async () => {
    await driver.remove((await clone('first')).id)
    const files = await filesOf(source)
    expect(files).toHaveLength(3)
    for (let at = 0; at < 40; at++) await driver.remove((await clone(`clone ${at}`)).id)
    expect(await filesOf(source)).toEqual(files)
    expect(await imageLayers(diskOf(source))).toBe(2)
  })

  test('forty that are kept build on the same image', async () => {
    const clones = []
    for (let at = 0; at < 40; at++) clones.push(await clone(`clone ${at}`))
    expect(await filesOf(source)).toHaveLength(3)
    expect(await imageLayers(diskOf(clones.at(-1)!))).toBe(2)
  })

  test('one of them that is damaged keeps the layers that it needs, and no others', async () => {
    const damaged = await clone('damaged')
    const needed = (await filesOf(source)).find(name => name.startsWith('base-'))
    for (const byte of [2, 3, 4]) {
      await writePattern(diskOf(source), byte, byte)
      await clone(`with ${byte}`)
    }
    expect((await filesOf(source)).filter(name => name.startsWith('base-'))).toHaveLength(4)
    const image = await readFile(diskOf(damaged))
    await writeFile(diskOf(damaged), 'no image')
    // As a kill leaves it.
    await writeFile(`${diskOf(source)}.new`, 'half')
    for (const { id, name } of await driver.list()) if (name.startsWith('with')) await driver.remove(id)
    await driver.close()
    await open()
    const last = await clone('last')
    const files = await filesOf(source)
    expect(files).toContain(needed)
    expect(files).not.toContain('disk0.qcow2.new')
    expect(files.filter(name => name.startsWith('base-'))).toHaveLength(2)
    expect(await readPatterns(diskOf(last), [0, 2, 3, 4])).toEqual([1, 2, 3, 4])
    await writeFile(diskOf(damaged), image)
    expect(await readPatterns(diskOf(damaged), [0, 2, 3, 4])).toEqual([1, 0, 0, 0])
  })

  test('one that is damaged and of which nobody knows what it needs keeps all layers', async () => {
    const damaged = await clone('damaged')
    await driver.close()
    const file = join(damaged.home, 'machine.json')
    const { disks, ...rest } = JSON.parse(await readFile(file, 'utf8'))
    await writeFile(file, JSON.stringify({ ...rest, disks: [{ ...disks[0], backing: undefined }] }))
    await open()
    await writePattern(diskOf(source), 2, 2)
    await driver.remove((await clone('next')).id)
    await writeFile(diskOf(damaged), 'no image')
    await writeFile(`${diskOf(source)}.new`, 'half')
    const files = await filesOf(source)
    await driver.close()
    await open()
    await clone('last')
    expect(await filesOf(source)).toEqual(files.filter(name => !name.endsWith('.new')))
  })

  describe('of a source with many layers, killed', () => {
    const layers = 6
    let kept: MachineView

    /** Layers of before, of which a clone needs one in the middle, and something written on top. */
    const prepare = async (): Promise<void> => {
      for (let at = 1; at <= layers; at++) {
        if (at === 3) kept = await clone('kept')
        await writePattern(diskOf(source), at, at + 1)
        await freezeByHand(source.home)
      }
      await writePattern(diskOf(source), 0, 99)
      await driver.close()
    }
    const kill = (step: number, program = img): Promise<NodeJS.Signals | number | null> =>
      new Promise((settle, reject) => {
        const script = resolve('test/support/killed-clone.ts')
        const child = spawn(process.execPath, [script, machines(), source.id, String(step), program], {
          stdio: 'ignore',
        })
        child.once('error', reject)
        child.once('exit', (code, signal) => settle(signal ?? code))
      })
    const holdsAll = async (): Promise<void> => {
      const places = [0, 1, 2, 3, 4, 5, 6, 7]
      expect(await readPatterns(diskOf(source), places)).toEqual([99, 2, 3, 4, 5, 6, 7, 0])
      expect(await readPatterns(diskOf(kept), places)).toEqual([1, 2, 3, 0, 0, 0, 0, 0])
    }

    test('at any step, it lost nothing, and the next one puts everything in order', async () => {
      await prepare()
      let step = 0
      for (let end: unknown = 'SIGKILL'; end === 'SIGKILL'; step++) {
        end = await kill(step)
        if (end !== 'SIGKILL') expect(end).toBe(0)
        await holdsAll()
        // Each round begins with as much to do.
        if (end === 'SIGKILL')
          for (const byte of [7, 7]) {
            await freezeByHand(source.home)
            await writePattern(diskOf(source), 6, byte)
          }
      }
      // Merging, freezing and cloning are that many at least.
      expect(step).toBeGreaterThan(8)
      await open()
      const killed = (await driver.list()).find(({ name }) => name === 'killed')
      expect(await readPatterns(diskOf(killed!), [0, 6])).toEqual([99, 7])
      for (const one of [killed!, kept]) await driver.remove(one.id)
      await driver.remove((await clone('last')).id)
      await holdsNothingElse()
    })

    const holdsNothingElse = async (): Promise<void> => {
      expect((await filesOf(source)).filter(name => !name.startsWith('base-'))).toEqual(['disk0.qcow2', 'machine.json'])
      expect(await imageLayers(diskOf(source))).toBe(2)
      expect(await filesOf(source)).toHaveLength(3)
    }

    test.for([0.005, 0.02, 0.05])('while the layers are being merged, after %s s, it lost nothing', async seconds => {
      for (let place = 100; place < 1000; place += 100) await writePattern(diskOf(source), place, 5, 90)
      await prepare()
      const program = join(folder.path, 'qemu-img')
      writeFileSync(
        program,
        `#!/bin/sh\nif [ "$1" != commit ]; then exec ${img} "$@"; fi\ntimeout -s KILL ${seconds} ${img} "$@"\nkill -KILL $PPID\n`,
      )
      chmodSync(program, 0o755)
      expect(await kill(1_000, program)).toBe('SIGKILL')
      await holdsAll()
      await open()
      const made = await clone('after')
      await holdsAll()
      expect(await readPatterns(diskOf(made), [0, 100, 189, 6])).toEqual([99, 5, 5, 7])
      for (const one of [made, kept]) await driver.remove(one.id)
      await clone('last')
      expect(await imageLayers(diskOf(source))).toBe(2)
      expect(await readPatterns(diskOf(source), [0, 100, 989, 6])).toEqual([99, 5, 5, 7])
    })
  })
})
