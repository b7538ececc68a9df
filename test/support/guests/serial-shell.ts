import { expect } from 'vitest'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import { until } from '../waiting.ts'
import { readSerialLog, typeOnSerialLine } from './serial.ts'

export interface CommandOutput {
  readonly output: string
  readonly exitCode: number
}

/** Waits until the serial output of a guest has matched. Returns the match. */
export const waitForSerial = (machine: Pick<MachineView, 'home' | 'name'>, pattern: RegExp): Promise<RegExpExecArray> =>
  until(async () => {
    const match = pattern.exec(await readSerialLog(machine))
    expect(match, `${pattern} on the serial line of ${machine.name}`).not.toBeNull()
    return match!
  })

/**
 * Runs a command in the shell on the serial line of a small Linux that has printed `GUEST:READY`, and waits for its end. Returns
 * its output, of both streams, without messages of the guest itself. A line for a shell has at most 4095 bytes.
 */
export const runOnSerialLine = async (machine: MachineView, command: string): Promise<CommandOutput> => {
  const id = crypto.randomUUID()
  // The quotes tell what the guest prints from an echo of what was typed.
  await typeOnSerialLine(machine, `echo BEGIN''${id}; { ${command}\n} 2>&1; s=$?; echo; echo END''${id} $s\n`)
  const [, text = '', exitCode] = await waitForSerial(machine, new RegExp(`BEGIN${id}\\r?\\n([^]*)END${id} (\\d+)`))
  // The guest writes its messages whenever they come, also in the middle of a line.
  const output = text.replaceAll('\r', '').replaceAll(/GUEST:[A-Z]+( .*)?\n?/g, '')
  return { output: output.trim(), exitCode: Number(exitCode) }
}
