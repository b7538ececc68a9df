import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectQmp } from '#lib/hypervisor/qemu/qmp.ts'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'

const inLinux = process.platform === 'linux'

describe.skipIf(withoutQemu || !inLinux)(withoutQemu ? 'QEMU is not installed' : 'a QEMU that was taken over', () => {
  test('cannot start a program: before and after its machine was suspended', async () => {
    await using bench = await openQemuBench()
    const { id, home } = await bench.create('one')
    await bench.run(id, 'start')
    await bench.nextTick(id)
    for (const resumed of [false, true]) {
      if (resumed) {
        await bench.run(id, 'suspend')
        await bench.run(id, 'resume')
      }
      const pid = await bench.pid(id)
      expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Seccomp:\s+2$/m)
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      expect(args[args.indexOf('-sandbox') + 1]!.split(',')).toEqual(
        expect.arrayContaining(['on', 'elevateprivileges=deny', 'spawn=deny', 'resourcecontrol=deny']),
      )
      expect(args.filter(argument => argument.startsWith('exec:'))).toEqual([])
    }
    const spare = await connectQmp(join(home, 'run/qmp2.sock'), () => {})
    await spare.execute('migrate', { uri: `exec:cat > ${bench.folder}/spawned` }).catch(() => {})
    await bench.waitForView(id, { state: 'stopped', problem: expect.stringContaining('crashed') })
    expect(existsSync(join(bench.folder, 'spawned'))).toBe(false)
  })
})
