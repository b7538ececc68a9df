import { globSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { readStateFile } from '#lib/platform/open-file.ts'

/** What the QEMU machines of a state folder need of the host. */
export interface MachineNeeds {
  readonly count: number
  readonly uefi: boolean
  /** The kinds of their network modes, such as `nat`, `bridge` and `network`. */
  readonly networks: ReadonlySet<string>
}

/** As much of a definition as says what the machine needs. The service reports a definition that is wrong. */
const Needing = z.object({
  firmware: z.string().optional(),
  networks: z.array(z.object({ mode: z.string().optional() })).default([]),
})

/** Reads the needs of all QEMU machines from their definitions. Machines that cannot be read need nothing. */
export const readMachineNeeds = async (state: string): Promise<MachineNeeds> => {
  const folder = join(state, 'machines', 'qemu')
  const networks = new Set<string>()
  let uefi = false
  let count = 0
  for (const file of globSync('*/machine.json', { cwd: folder })) {
    count++
    const found = await readStateFile(join(folder, file)).then(
      text => Needing.safeParse(JSON.parse(text ?? '{}')).data,
      () => undefined,
    )
    uefi ||= found?.firmware === 'uefi'
    for (const { mode } of found?.networks ?? []) if (mode !== undefined) networks.add(mode.split(':')[0] ?? '')
  }
  return { count, uefi, networks }
}
