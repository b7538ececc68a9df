import { constants } from 'node:fs'
import { open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readSerialOutput } from './serial-output.ts'

const fileName = 'serial.boot'
const maxDigits = 15
/** The guest's hypervisor can write to the folder, so a link or a pipe there is not followed. */
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Notes that a machine boots now: the guest's output from here on is that of its new run. */
export const noteBoot = async (home: string): Promise<void> => {
  const path = join(home, fileName)
  try {
    const { end } = await readSerialOutput(home, 0, 0)
    await rm(path, { force: true })
    await writeFile(path, String(end), { flag: 'wx', mode: 0o600 })
  } catch {
    // Without the note, the output of earlier runs counts as that of this one. That must not fail the boot.
  }
}

/** Returns the offset at which the output of a machine's present run begins; 0 if nothing was noted. */
export const readBootOffset = async (home: string): Promise<number> => {
  try {
    await using file = await open(join(home, fileName), readFlags)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxDigits + 1), 0, maxDigits + 1, 0)
    const text = buffer.toString('latin1', 0, bytesRead)
    return /^\d{1,15}$/.test(text) ? Number(text) : 0
  } catch {
    return 0
  }
}
