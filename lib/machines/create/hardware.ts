import * as z from 'zod'
import { knownObject } from '#lib/access/known-members.ts'
import { bounds } from '#lib/hypervisor/definition.ts'
import { Limits, SharedFolder } from '#lib/hypervisor/machine-parts.ts'
import { ImageReference } from '../images/leased-image.ts'

/** The hardware that a request for a new machine may choose. `absolutePath` is the schema of paths of the host. */
export const createHardwareShape = (absolutePath: z.ZodType<string, string>) => ({
  machine_type: z
    .enum(['pc', 'q35'])
    .optional()
    .meta({ description: 'The board; q35 when left out, and pc for a multiboot kernel' }),
  firmware: z.enum(['bios', 'uefi']).optional().meta({ description: 'bios when left out' }),
  display: z.boolean().optional().meta({ description: 'True for a screen; none when left out' }),
  max_cpus: z
    .int()
    .min(1)
    .max(bounds.cpus)
    .optional()
    .meta({ description: 'The number that the CPUs can grow to while the machine runs; `cpus` when left out' }),
  max_memory: z
    .int()
    .min(1)
    .max(bounds.memory)
    .optional()
    .meta({ description: 'MB that the memory can grow to while the machine runs; `memory` when left out' }),
  boot_order: z
    .array(z.enum(['hdd', 'cdrom', 'net']))
    .min(1)
    .max(3)
    .refine(order => new Set(order).size === order.length, 'must name each class once')
    .optional()
    .meta({
      description: 'Device classes in the order in which the firmware tries them; disks, then CD-ROMs, when left out',
    }),
  cdroms: z
    .array(
      knownObject('a CD-ROM drive', {
        path: absolutePath.optional(),
        image: ImageReference.optional().meta({ description: 'Name or digest of a registered ISO image' }),
      }),
    )
    .max(bounds.cdroms)
    .optional()
    .meta({
      description:
        'CD-ROM drives with the ISO files in them: files of the host by path, or registered images by name or digest. A drive with neither is empty',
    }),
  shared_folders: z
    .array(knownObject('a shared folder', { ...SharedFolder.shape, path: absolutePath }))
    .max(bounds.sharedFolders)
    .refine(folders => new Set(folders.map(({ name }) => name)).size === folders.length, 'must have different names')
    .optional()
    .meta({ description: 'Folders of the host that the guest can mount by their names (9p)' }),
  limits: knownObject('limits', Limits.shape).optional().meta({ description: 'What the machine may take of its host' }),
})
