import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PreparedMachine } from '../base-driver.ts'
import type { Definition, NewMachine } from '../definition.ts'
import { demoGuest } from '../demo-guest.gen.ts'
import { openRequestedFile } from '../files/open-machine-file.ts'
import { generateMac } from '../mac.ts'
import type { Attachments } from './attached-files.ts'
import { assertBootable } from './bootable.ts'
import { createDisks, planDisks } from './disks.ts'
import type { Images } from './images.ts'

interface Context {
  readonly images: Images
  readonly attachments: Attachments
}

/** Prepares the machine of a request. Throws as `assertBootable`, `openRequestedFile` and `planDisks` do. */
export const prepareMachine = async (
  request: NewMachine,
  { images, attachments }: Context,
): Promise<PreparedMachine> => {
  assertBootable(request)
  const { disks: newDisks, ...machine } = request
  const { hostFiles } = attachments
  const id = crypto.randomUUID()
  const openBootFile = async (field: 'kernel' | 'initrd'): Promise<string | undefined> => {
    const path = machine[field]
    if (path === undefined) return undefined
    await using file = await openRequestedFile(hostFiles, field, path)
    return file.path
  }
  const disks = await planDisks(newDisks, images, { hostFiles, otherDisks: attachments.otherDisks(id) })
  const definition: Definition = {
    ...machine,
    kernel: await openBootFile('kernel'),
    initrd: await openBootFile('initrd'),
    id,
    disks,
    networks: [{ mac: generateMac(), mode: 'isolated' }],
    created_at: new Date().toISOString(),
  }
  return { definition, populate: folder => createDisks(disks, folder, images) }
}

/** Prepares the demo machine of a fresh installation, whose kernel is in its folder. */
export const prepareDemo = async ({ images, attachments: { hostFiles } }: Context): Promise<PreparedMachine> => {
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
    created_at: new Date().toISOString(),
  }
  return {
    definition,
    async populate(folder) {
      await writeFile(join(folder, definition.kernel), demoGuest)
      await createDisks(disks, folder, images)
    },
  }
}
