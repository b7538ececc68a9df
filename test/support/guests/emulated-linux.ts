import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import { buildOnce } from './build-once.ts'
import { buildEmulatedLinux } from './emulated-linux/build.ts'

/**
 * The kernel and initrd of a Linux for i386, for the embedded driver. It has a shell on its first serial line, where it prints
 * `GUEST:READY`, and runs the guest agent on its second one. It needs 64 MB.
 */
export interface EmulatedLinux {
  readonly kernel: string
  readonly initrd: string
  readonly cmdline: string
}

const findEmulatedLinux = async (): Promise<EmulatedLinux | string> => {
  try {
    const folder = await buildOnce(fileURLToPath(new URL('emulated-linux', import.meta.url)), buildEmulatedLinux)
    return {
      kernel: join(folder, 'vmlinuz'),
      initrd: join(folder, 'initrd'),
      cmdline: 'console=ttyS0 quiet loglevel=0 cryptomgr.notests',
    }
  } catch (error) {
    if (process.env['REQUIRE_GUESTS'] === '1') throw error
    return `no Linux for i386 can be built: ${messageOf(error)}`
  }
}

const found = await findEmulatedLinux()

/** Why tests with the emulated Linux are skipped; undefined where it is there. With REQUIRE_GUESTS=1 they fail instead. */
export const withoutEmulatedLinux = typeof found === 'string' ? found : undefined

/** Returns the emulated Linux. Throws where `withoutEmulatedLinux` says why there is none. */
export const getEmulatedLinux = (): EmulatedLinux => {
  if (typeof found === 'string') throw new Error(found)
  return found
}
