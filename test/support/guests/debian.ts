import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import { buildOnce } from './build-once.ts'
import { buildDebian } from './debian/build.ts'

/**
 * Returns the qcow2 disk of a Debian 12, which cloud-init configures at its first boot: the keys of the machine may sign in as
 * `debian`. As text: why it cannot be had; with REQUIRE_GUESTS=1 it throws instead. It needs 512 MB and, in a translated guest, two
 * minutes of CPU time for its first boot.
 */
export const findDebian = async (): Promise<{ readonly disk: string } | string> => {
  try {
    return { disk: join(await buildOnce(fileURLToPath(new URL('debian', import.meta.url)), buildDebian), 'disk.qcow2') }
  } catch (error) {
    if (process.env['REQUIRE_GUESTS'] === '1') throw error
    return `no Debian can be installed into a disk: ${messageOf(error)}`
  }
}
