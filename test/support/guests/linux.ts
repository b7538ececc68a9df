import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { messageOf } from '#lib/errors.ts'
import { buildOnce } from './build-once.ts'
import { buildSmallLinux } from './small-linux/build.ts'

/**
 * The kernel and initrd of a small Linux, which boots within seconds to a shell on its serial line, where it prints
 * `GUEST:READY`. It takes an address on every card (`GUEST:IP eth0 10.0.2.15`), runs the guest agent, obeys the power button,
 * echoes on TCP port 7, serves a page on port 80, and takes into use what is added while it runs. It needs 128 MB.
 */
export interface SmallLinux {
  /** The unpacked kernel, which boots fastest. */
  readonly kernel: string
  /** The same kernel as an image that UEFI can start too. */
  readonly kernelImage: string
  readonly initrd: string
  readonly cmdline: string
}

const findSmallLinux = async (): Promise<SmallLinux | string> => {
  try {
    const folder = await buildOnce(fileURLToPath(new URL('small-linux', import.meta.url)), buildSmallLinux)
    return {
      kernel: join(folder, 'vmlinux'),
      kernelImage: join(folder, 'vmlinuz'),
      initrd: join(folder, 'initrd'),
      // The kernel's tests of its own ciphers take a third of a boot.
      cmdline: 'console=ttyS0 quiet loglevel=0 panic=-1 cryptomgr.notests',
    }
  } catch (error) {
    if (process.env['REQUIRE_GUESTS'] === '1') throw error
    return `no small Linux can be built: ${messageOf(error)}`
  }
}

const found = await findSmallLinux()

/** Why tests with the small Linux are skipped; undefined where it is there. With REQUIRE_GUESTS=1 they fail instead. */
export const withoutLinux = typeof found === 'string' ? found : undefined

/** Returns the small Linux. Throws where `withoutLinux` says why there is none. */
export const getSmallLinux = (): SmallLinux => {
  if (typeof found === 'string') throw new Error(found)
  return found
}
