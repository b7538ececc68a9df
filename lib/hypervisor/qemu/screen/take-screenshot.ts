import { constants } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '#lib/errors.ts'
import { fileNames } from '../file-names.ts'
import type { QemuMachine } from '../machine.ts'
import { requireScreen } from './require-screen.ts'

/** Bytes of a picture. The largest picture of a VGA with 16 MB has less, even if nothing in it repeats. */
const longestPicture = 32 * 2 ** 20

/** Reads the file that QEMU has written. QEMU can write to its folder, so it could be a link, a pipe, or without end. */
const readPicture = async (path: string): Promise<Uint8Array> => {
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const status = await file.stat()
  if (!status.isFile() || status.size > longestPicture)
    throw new ServiceError('upstream', 'QEMU has drawn no picture of its screen.')
  const { buffer, bytesRead } = await file.read(Buffer.alloc(status.size), 0, status.size, 0)
  return buffer.subarray(0, bytesRead)
}

/** Draws the screen of a machine as a PNG. Throws `conflict` as `requireScreen`, and `upstream` for what QEMU refuses. */
export const takeScreenshot = async ({ view, control }: QemuMachine): Promise<Uint8Array> => {
  requireScreen(view())
  const path = join(view().home, fileNames.screenshot)
  const { qmp } = await control.connect()
  await rm(path, { force: true })
  try {
    await qmp.execute('screendump', { filename: fileNames.screenshot, device: 'video0', format: 'png' })
    return await readPicture(path)
  } finally {
    await rm(path, { force: true })
  }
}
