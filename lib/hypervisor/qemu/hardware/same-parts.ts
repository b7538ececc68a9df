import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../../definition.ts'
import { getCardName, getDiskName, isModern } from '../../parts.ts'
import type { Qmp } from '../qmp.ts'

const Children = z.array(z.object({ name: z.string() }))

/** The names of what can be plugged while a machine runs. */
const partName = /^(hdd|net|cdrom|dimm)\d+$/

/**
 * Throws `conflict` if a running QEMU has other parts than the definition of its machine: the service was killed while it changed
 * them. Memory that is saved then could never be loaded.
 */
export const assertSameParts = async (qmp: Qmp, definition: Definition): Promise<void> => {
  // QEMUs of older versions have no such names, and nothing is plugged into them.
  if (!isModern(definition)) return
  const { name: machine, disks, networks, cdroms = [], memory_modules: modules = [] } = definition
  const recorded = new Set([
    ...disks.map(getDiskName),
    ...networks.map(getCardName),
    ...cdroms.map(({ name }) => name),
    ...modules.map((_, slot) => `dimm${slot}`),
  ])
  const children = Children.parse(await qmp.execute('qom-list', { path: '/machine/peripheral' }))
  const present = new Set(children.map(({ name }) => name).filter(name => partName.test(name)))
  const [other] = recorded.symmetricDifference(present)
  if (other !== undefined)
    throw new ServiceError(
      'conflict',
      `${machine} cannot be suspended: a change of ${other} was interrupted, so its saved memory could not be loaded. Restart it first.`,
    )
}
