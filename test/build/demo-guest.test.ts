import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createAssembler } from '#build/demo-guest/assembler.ts'
import { bootCount } from '#build/demo-guest/guest.ts'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'

const qemu = 'qemu-system-x86_64'
const qemuInstalled = process.env.REQUIRE_QEMU === '1' || spawnSync(qemu, ['--version']).status === 0

describe('the assembler', () => {
  test('resolves labels that are defined later, absolute and relative', () => {
    const a = createAssembler(0x1000)
    a.dword({ label: 'end' })
    a.jump('end')
    a.bytes(0x90)
    a.label('end')
    expect([...a.finish()]).toEqual([0x0a, 0x10, 0, 0, 0xe9, 1, 0, 0, 0, 0x90])
  })

  test('throws for an undefined label', () => {
    const a = createAssembler(0)
    a.call('nowhere')
    expect(() => a.finish()).toThrow('no label is called nowhere')
  })
})

describe('the guest', () => {
  test('has a valid multiboot header', () => {
    const header = new DataView(demoGuest.buffer)
    const words = [0, 4, 8].map(at => header.getUint32(at, true))
    expect(words[0]).toBe(0x1badb002)
    expect(words.reduce((sum, word) => (sum + word) >>> 0)).toBe(0)
  })

  test('its boot counter is undefined for a disk without one', () => {
    const disk = new Uint8Array(512)
    expect(bootCount(disk)).toBeUndefined()
    disk.set(Buffer.from('MBBOOTC1'))
    disk[8] = 7
    expect(bootCount(disk)).toBe(7)
    expect(bootCount(disk.subarray(0, 100))).toBeUndefined()
  })
})

describe.skipIf(!qemuInstalled)('the guest in QEMU (skipped where qemu-system-x86_64 is not installed)', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guest-'))
    await writeFile(join(folder, 'kernel'), demoGuest)
    await writeFile(join(folder, 'disk'), new Uint8Array(1 << 20))
  })
  afterEach(() => rm(folder, { recursive: true }))

  const boot = (withDisk: boolean) => {
    const disk = withDisk ? ['-drive', `file=${join(folder, 'disk')},format=raw,if=ide`] : []
    const child = spawn(
      qemu,
      ['-accel', 'tcg', '-machine', 'pc', '-m', '16', '-nodefaults', '-vga', 'none', '-display', 'none', '-serial']
        .concat(['stdio', '-kernel', join(folder, 'kernel')])
        .concat(disk),
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    const exited = once(child, 'exit')
    let text = ''
    const until = async (mark: RegExp): Promise<string> => {
      while (!mark.test(text)) text += String((await once(child.stdout, 'data'))[0])
      return text
    }
    const [type, stop] = [(keys: string) => child.stdin.write(keys), () => child.kill('SIGKILL')]
    return { type, until, exited, stop }
  }

  test('counts its boots on disk and powers off by itself, also when it ignores requests', async () => {
    for (const count of [1, 2]) {
      const machine = boot(true)
      try {
        await machine.until(new RegExp(`^MB BOOT 0000000${count}\r\nT 00000001\r\n`, 'm'))
        machine.type('i')
        await machine.until(/i/)
        machine.type('s')
        machine.type('x')
        expect(await machine.until(/x/)).not.toContain('BYE')
        machine.type('q')
        await machine.until(/BYE/)
        expect(await machine.exited).toEqual([0, null])
      } finally {
        machine.stop()
      }
      expect(bootCount(await readFile(join(folder, 'disk')))).toBe(count)
    }
  })

  test('runs without a disk, and shuts down on request', async () => {
    const machine = boot(false)
    try {
      await machine.until(/^MB BOOT --------\r\n/m)
      machine.type('s')
      await machine.until(/BYE/)
      expect(await machine.exited).toEqual([0, null])
    } finally {
      machine.stop()
    }
  })
})
