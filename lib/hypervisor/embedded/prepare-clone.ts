import { isAbsolute, join } from 'node:path'
import type { PreparedMachine } from '../base-driver.ts'
import { cloneDefinition, type CloneIdentity } from '../definition.ts'
import type { MachineView } from '../driver.ts'
import { openMachineFile, type HostFileOpener } from '../files/open-machine-file.ts'
import { copySeed } from '../seed/seed-files.ts'
import { copyContent, copyImage } from './disks/content.ts'
import { copyWithReflink } from './disks/files.ts'
import type { MachineDisk } from './disks/machine-disk.ts'
import { createOverlay } from './disks/overlay.ts'
import { createIdentity, getDiskFileName } from './prepare-machine.ts'

interface Options {
  /** The open disk of the source; undefined for a machine without one. */
  readonly disk: MachineDisk | undefined
  /** Set for a linked clone: the name of the base image in the source's folder, if the source has a disk. */
  readonly link: { readonly base: string | undefined } | undefined
  readonly hostFiles: HostFileOpener
  readonly deadline: AbortSignal
}

/**
 * Prepares a clone of a machine. A linked one gets a disk that shares the base image; another one gets a copy, also of a disk that
 * the machine uses in place. `populate` validates and copies the files, and throws as `openMachineFile` does.
 */
export const prepareClone = (
  view: MachineView,
  clone: CloneIdentity,
  { disk, link, hostFiles, deadline }: Options,
): PreparedMachine => {
  const { definition: source, home } = view
  const fileName = link ? 'disk0.overlay' : getDiskFileName(0)
  const disks = disk
    ? [{ path: fileName, size: disk.size, format: 'raw' as const, ...(link && { backing: link.base }) }]
    : []
  const { networks } = createIdentity()
  const definition = { ...cloneDefinition(source, clone), networks, disks, ...(link && { base: view.id }) }

  const populateDisk = async (from: MachineDisk, to: string): Promise<void> => {
    if (link) await createOverlay(to, from.size)
    else if (from.base) await copyContent(from, to, deadline)
    else await copyImage(from.file, to, deadline)
  }
  return {
    definition,
    async populate(folder) {
      if (disk) await populateDisk(disk, join(folder, fileName))
      for (const path of [source.kernel, source.initrd])
        if (path !== undefined) {
          await using file = await openMachineFile(hostFiles, view, path)
          if (!isAbsolute(path)) await copyWithReflink(file.path, join(folder, path))
        }
      await copySeed(home, folder, definition)
    },
  }
}
