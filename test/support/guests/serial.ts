import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { MachineView } from '#lib/hypervisor/driver.ts'

/** Returns the serial output of a guest; empty before its first output. */
export const readSerialLog = async ({ home }: Pick<MachineView, 'home'>): Promise<string> =>
  readFile(join(home, 'serial.log'), 'latin1').then(
    text => text,
    () => '',
  )

/** Sends text to the serial line of a QEMU machine. */
export const typeOnSerialLine = ({ home }: Pick<MachineView, 'home'>, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(join(home, 'run', 'serial.sock'))
    socket.once('error', reject)
    socket.end(text, () => resolve())
  })
