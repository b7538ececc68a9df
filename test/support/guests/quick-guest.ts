import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { demoGuest } from '#lib/hypervisor/demo-guest.gen.ts'

/** `cmp ebx, 10`: the timer interrupts, of which there are 20 a second, after which the guest ticks. */
const halfASecond = Buffer.of(0x83, 0xfb, 10)

/** Builds the demo guest with a tick every tenth of a second, so that tests wait less. */
export const buildQuickGuest = (): Uint8Array => {
  const guest = Buffer.from(demoGuest)
  const at = guest.indexOf(halfASecond)
  if (at < 0 || guest.includes(halfASecond, at + 1)) throw new Error('the guest does not wait as it did')
  guest[at + 2] = 2
  return guest
}

/** Installs the quick guest in the folder of a stopped demo machine. Clones of it get it too. */
export const quickenDemo = (home: string): void => writeFileSync(join(home, 'kernel.bin'), buildQuickGuest())
