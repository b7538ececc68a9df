import { describe, expect, test } from 'vitest'
import { openQemuBench } from '../../support/drivers/qemu-bench.ts'
import { withoutQemu } from '../../support/drivers/qemu.ts'
import { getSmallLinux, withoutLinux } from '../../support/guests/linux.ts'
import { runOnSerialLine, waitForSerial } from '../../support/guests/serial-shell.ts'

const missing = withoutQemu ? 'QEMU is not installed' : withoutLinux

describe.skipIf(missing !== undefined)(missing ?? 'the small Linux of the tests', () => {
  test('boots with an address, takes commands on its serial line and obeys the power button', async () => {
    await using bench = await openQemuBench()
    const { kernel, initrd, cmdline } = getSmallLinux()
    const { id } = await bench.driver.create({
      name: 'linux',
      description: '',
      cpus: 1,
      memory: 128,
      disks: [{ size: 16 }],
      kernel,
      initrd,
      cmdline,
    })
    const machine = await bench.run(id, 'start')
    await waitForSerial(machine, /GUEST:READY/)
    await waitForSerial(machine, /GUEST:IP eth0 10\.0\.2\.15/)

    expect(await runOnSerialLine(machine, 'blockdev --getsize64 /dev/vda; false')).toEqual({
      output: String(16 * 2 ** 20),
      exitCode: 1,
    })
    expect(await runOnSerialLine(machine, 'echo hello | nc -w 1 127.0.0.1 7; wget -qO - 127.0.0.1')).toEqual({
      output: 'hello\nsmall linux',
      exitCode: 0,
    })

    // An agent would shut the guest down without the button.
    await runOnSerialLine(machine, 'killall qemu-ga')
    const stopped = await bench.run(id, 'stop')
    expect(stopped.state).toBe('stopped')
    await waitForSerial(machine, /GUEST:POWERBUTTON/)
  })
})
