import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { type Assembler, createAssembler } from '#build/demo-guest/assembler.ts'
import type { NewMachine } from '#lib/hypervisor/definition.ts'
import type { DriverEvent, MachineView, Verb } from '#lib/hypervisor/driver.ts'
import type { EmbeddedDriver } from '#lib/hypervisor/embedded/driver.ts'
import { createEmbeddedBench, waitForOutput } from '../../support/drivers/embedded-bench.ts'
import { newFolder } from '../../support/folder.ts'
import { patience, until } from '../../support/waiting.ts'

/** Returns a Linux kernel as far as its header says, with 32-bit code for the address 0x104000. */
const buildLinux = (code: Uint8Array, { is64Bit = false } = {}): Uint8Array => {
  const kernel = Buffer.alloc(1024 + code.length)
  kernel.writeUInt8(1, 0x1f1)
  kernel.writeUInt16LE(0xaa55, 0x1fe)
  kernel.writeUInt8(0x66, 0x201)
  kernel.write('HdrS', 0x202)
  kernel.writeUInt16LE(0x020f, 0x206)
  kernel.writeUInt8(1, 0x211)
  kernel.writeUInt16LE(is64Bit ? 1 : 0, 0x236)
  kernel.writeUInt32LE(100, 0x238)
  kernel.writeUInt32LE(0x400000, 0x258)
  kernel.writeUInt32LE(0x400000, 0x260)
  kernel.set(code, 1024)
  return kernel
}

/** Defines `print`, which sends the text at ESI, up to a zero, to a serial line. */
const definePrint = (a: Assembler, port: number): void => {
  a.label('print')
  a.set('edx', port)
  a.label('next character')
  a.bytes(0xac, 0x84, 0xc0) // lodsb; test al, al
  a.jumpIf('equal', 'end of text')
  a.bytes(0xee) // out dx, al
  a.jump('next character')
  a.label('end of text')
  a.bytes(0xc3)
}

/**
 * A kernel that opens the line of the agent and answers each line there: with the number in it, or else with nothing in braces. That
 * is the guest agent protocol as far as `guest-sync-delimited` and `guest-ping`.
 */
const buildAnsweringLinux = (): Uint8Array => {
  const digits = 0x170000
  const a = createAssembler(0x104000)
  a.set('esp', 0x180000)
  a.out(0x2fc, 1) // DTR
  a.label('line')
  a.set('edi', digits)
  a.label('byte')
  a.set('edx', 0x2fd)
  a.bytes(0xec, 0xa8, 1) // in al, dx; test al, 1: is there input?
  a.jumpIf('equal', 'byte')
  a.set('edx', 0x2f8)
  a.bytes(0xec) // in al, dx
  a.compare(10)
  a.jumpIf('equal', 'answer')
  a.compare(48)
  a.jumpIf('below', 'byte')
  a.compare(58)
  a.jumpIf('below', 'digit')
  a.jump('byte')
  a.label('digit')
  a.bytes(0xaa) // stosb
  a.jump('byte')
  a.label('answer')
  a.bytes(0xc6, 7, 0) // mov byte [edi], 0
  a.set('esi', { label: 'before' })
  a.call('print')
  a.set('esi', digits)
  a.bytes(0x81, 0xff, 0, 0, 0x17, 0) // cmp edi, digits
  a.jumpIf('notEqual', 'number')
  a.set('esi', { label: 'nothing' })
  a.label('number')
  a.call('print')
  a.set('esi', { label: 'after' })
  a.call('print')
  a.jump('line')
  definePrint(a, 0x2f8)
  a.text('before', '\xff{"return":')
  a.text('nothing', '{}')
  a.text('after', '}\n')
  return buildLinux(a.finish())
}

/**
 * A kernel that prints the command line and the initial RAM disk that it is given, both ended by a zero, and whether the IDE channels
 * are on. Then it halts or resets the machine.
 */
const buildPrintingLinux = ({ is64Bit = false, resets = false } = {}): Uint8Array => {
  const a = createAssembler(0x104000)
  a.bytes(0x89, 0xf3) // mov ebx, esi: the boot parameters
  a.set('esp', 0x180000)
  a.bytes(0x8b, 0xb3, 0x28, 2, 0, 0) // mov esi, [ebx + cmd_line_ptr]
  a.call('print')
  a.bytes(0x8b, 0xb3, 0x18, 2, 0, 0) // mov esi, [ebx + ramdisk_image]
  a.call('print')
  // The registers of the IDE channels in the configuration of the PCI device 30.
  a.set('edx', 0xcf8)
  a.set('eax', 0x8000f040)
  a.bytes(0xef, 0x83, 0xc2, 4, 0xed) // out dx, eax; add edx, 4; in eax, dx
  a.bytes(0x3d, 0, 0x80, 0, 0x80) // cmp eax, 0x80008000
  a.jumpIf('notEqual', 'channels are off')
  a.set('esi', { label: 'ide' })
  a.call('print')
  a.label('channels are off')
  if (resets) a.bytes(0xb0, 0xfe, 0xe6, 0x64) // mov al, 0xfe; out 0x64, al: the keyboard controller resets the processor
  a.bytes(0xfa, 0xf4) // cli; hlt
  definePrint(a, 0x3f8)
  a.text('ide', 'with IDE ')
  return buildLinux(a.finish(), { is64Bit })
}

describe('Linux kernels on the embedded driver', () => {
  let folder: ReturnType<typeof newFolder>
  let driver: EmbeddedDriver
  let kernel: string
  let events: DriverEvent[]

  const run = (id: string, verb: Verb, force = false): Promise<MachineView> =>
    driver.run(id, verb, { force, deadline: AbortSignal.timeout(patience) })
  const create = (changes: Partial<NewMachine> = {}): Promise<MachineView> =>
    driver.create({ name: 'linux', description: '', cpus: 1, memory: 32, disks: [], kernel, ...changes })

  beforeEach(async () => {
    folder = newFolder()
    kernel = join(folder.path, 'vmlinuz')
    await writeFile(kernel, buildPrintingLinux())
    driver = createEmbeddedBench(join(folder.path, 'machines')).driver()
    events = []
    await driver.open(event => events.push(event))
  })
  afterEach(async () => {
    for (const { id } of await driver.list()) await run(id, 'stop', true)
    await driver.close()
    folder[Symbol.dispose]()
  })

  test('a kernel gets its command line and its initial RAM disk, without a BIOS', async () => {
    const initrd = join(folder.path, 'initrd')
    await writeFile(initrd, 'of RAM \0')
    const view = await create({ cmdline: 'root=disk ', initrd })
    await run(view.id, 'start').catch(() => {})
    await waitForOutput(view, /root=disk of RAM with IDE/)
    await expect.poll(async () => (await driver.get(view.id))?.state).toBe('stopped')
    expect((await driver.get(view.id))!).not.toHaveProperty('problem')
  })

  test('a guest that resets itself boots again', async () => {
    await writeFile(kernel, buildPrintingLinux({ resets: true }))
    const view = await create({ cmdline: 'again ' })
    await run(view.id, 'start').catch(() => {})
    await waitForOutput(view, /again with IDE again with IDE again/)
    expect(events).toContainEqual(expect.objectContaining({ cause: 'guest' }))
  })

  test('the agent of a guest is on its second serial line, also after a suspension', async () => {
    const ping = async (padding = ''): Promise<unknown> => {
      const agent = await until(() => driver.openAgent!(view.id))
      return agent.execute('guest-ping', { arguments: { padding }, reply: z.object({}) })
    }
    await writeFile(kernel, buildAnsweringLinux())
    const view = await create()
    await expect(driver.openAgent!(view.id)).rejects.toMatchObject({ fault: 'conflict' })
    await run(view.id, 'start')
    expect(await ping()).toEqual({})
    expect(await ping('x'.repeat(100_000))).toEqual({})
    await run(view.id, 'suspend')
    await expect(driver.openAgent!(view.id)).rejects.toMatchObject({ fault: 'conflict' })
    await run(view.id, 'resume')
    expect(await ping()).toEqual({})
    await run(view.id, 'stop', true)
    await expect(driver.openAgent!(view.id)).rejects.toMatchObject({ fault: 'conflict' })
  })

  test('a Linux without an agent cannot be asked to shut down', async () => {
    const a = createAssembler(0x104000)
    a.label('forever')
    a.jump('forever')
    await writeFile(kernel, buildLinux(a.finish()))
    const view = await create()
    await run(view.id, 'start')
    await expect(run(view.id, 'stop')).rejects.toMatchObject({
      fault: 'conflict',
      message: expect.stringMatching(/no guest agent answers.*by force/),
    })
    expect(await driver.get(view.id)).toMatchObject({ state: 'running' })
  })

  test('a kernel that cannot run is refused by name', async () => {
    await expect(create({ memory: 15 })).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringMatching(/vmlinuz needs 16 MB/),
    })
    const initrd = join(folder.path, 'initrd')
    await writeFile(initrd, Buffer.alloc(20 << 20))
    await expect(create({ initrd })).rejects.toMatchObject({ message: expect.stringMatching(/needs 36 MB/) })
    await expect(create({ cmdline: 'x'.repeat(101) })).rejects.toMatchObject({
      fault: 'invalid',
      message: expect.stringMatching(/cmdline has 101 bytes.*at most 100/),
    })
    await writeFile(kernel, buildPrintingLinux({ is64Bit: true }))
    await expect(create()).rejects.toMatchObject({
      fault: 'unsupported',
      message: expect.stringMatching(/vmlinuz is a 64-bit kernel.*i386/),
    })
    await writeFile(kernel, (await readFile(kernel)).subarray(0, 600))
    await expect(create()).rejects.toMatchObject({ message: expect.stringMatching(/not a Linux kernel/) })
    expect(await driver.list()).toEqual([])
  })
})
