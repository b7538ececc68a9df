import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PreparedMachine } from '../base-driver.ts'
import type { Definition, NewMachine } from '../definition.ts'
import { demoGuest } from '../demo-guest.gen.ts'
import { openRequestedFile } from '../files/open-machine-file.ts'
import { addCard } from '../network-modes.ts'
import type { Attachments } from './attached-files.ts'
import { assertBootable } from './bootable.ts'
import { createDisks, planDisks } from './disks.ts'
import { createVariables } from './hardware/firmware.ts'
import type { Images } from './images.ts'
import { assertLimits } from './hardware/limits.ts'
import { planHardware } from './hardware/new-hardware.ts'
import { assertIdePlaces, assignPorts } from './hardware/ports.ts'
import type { HostNetwork } from './network/host-network.ts'

interface Context {
  readonly images: Images
  readonly attachments: Attachments
  readonly network: Pick<HostNetwork, 'check'>
}

/** Prepares the machine of a request. Throws as `assertBootable`, `openRequestedFile` and `planDisks` do. */
export const prepareMachine = async (
  request: NewMachine,
  { images, attachments, network }: Context,
): Promise<PreparedMachine> => {
  assertBootable(request)
  const { networks = [addCard([], 'isolated')] } = request
  await network.check({ networks: [...networks], limits: request.limits })
  const { disks: newDisks, networks: _, cdroms: __, seed, ...machine } = request
  const { hostFiles, openImage } = attachments
  const { id = crypto.randomUUID() } = request
  const openBootFile = async (field: 'kernel' | 'initrd'): Promise<string | undefined> => {
    const path = machine[field]
    if (path === undefined) return undefined
    await using file = await openRequestedFile(hostFiles, field, path)
    return file.path
  }
  const disks = await planDisks(newDisks, images, { hostFiles, otherDisks: attachments.otherDisks(id) })
  const hardware = await planHardware(request, attachments)
  const definition: Definition = assignPorts({
    ...machine,
    ...hardware,
    kernel: await openBootFile('kernel'),
    initrd: await openBootFile('initrd'),
    id,
    disks,
    networks: [...networks],
    created_at: new Date().toISOString(),
  })
  assertIdePlaces(definition)
  assertLimits(definition, attachments.cpuGroups)
  return {
    definition,
    seed,
    async populate(folder) {
      await createDisks(disks, folder, { images, openImage })
      if (definition.firmware === 'uefi') await createVariables(folder, attachments.firmware, images)
    },
  }
}

/** Prepares the demo machine of a fresh installation, whose kernel is in its folder. */
export const prepareDemo = async ({
  images,
  attachments: { hostFiles, openImage },
}: Omit<Context, 'network'>): Promise<PreparedMachine> => {
  const disks = await planDisks([{ size: 1 }], images, { hostFiles, otherDisks: [] })
  const definition = {
    id: crypto.randomUUID(),
    name: 'demo',
    description: 'Counts its boots on its disk and ticks on its serial line, see serial.log in its folder',
    cpus: 1,
    memory: 16,
    disks,
    networks: [],
    kernel: 'kernel.bin',
    machine_type: 'pc' as const,
    created_at: new Date().toISOString(),
  }
  return {
    definition,
    async populate(folder) {
      await writeFile(join(folder, definition.kernel), demoGuest)
      await createDisks(disks, folder, { images, openImage })
    },
  }
}
