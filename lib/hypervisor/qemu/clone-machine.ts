import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { abortableAfterGrace } from '#lib/async/abortable.ts'
import { cloneDefinition, type Definition } from '../definition.ts'
import type { HypervisorDriver, MachineView } from '../driver.ts'
import { generateMac } from '../mac.ts'
import { copySeed } from '../seed/seed-files.ts'
import type { Snapshot } from '../snapshot.ts'
import type { Attachments } from './attached-files.ts'
import { copyRunningDisks } from './backup/copy-running-disks.ts'
import type { CloneSources } from './clone-sources.ts'
import { assertLinkable, copyDisks, copyOwnFiles, linkDisks } from './disks.ts'
import type { Images } from './images.ts'
import type { QemuMachine } from './machine.ts'
import { getVariablesFile } from './snapshots/files.ts'
import { viewSnapshot } from '../snapshots/view-snapshot.ts'

export interface CloneContext {
  readonly attachments: Attachments
  readonly images: Images
  readonly sources: CloneSources
  /** Creates the folder of a machine, and the machine. */
  readonly create: (id: string, populate: (folder: string) => Promise<Definition>) => Promise<MachineView>
}

/** Clones a machine, or a snapshot of it. Throws as `HypervisorDriver.clone`. */
export const cloneMachine = async (
  machine: QemuMachine,
  name: string,
  options: Parameters<HypervisorDriver['clone']>[2],
  { attachments, images, sources, create }: CloneContext,
  snapshot?: Snapshot,
): Promise<MachineView> => {
  const { id = crypto.randomUUID(), owner, linked, deadline, onProgress, onConsistency } = options
  const view = snapshot ? viewSnapshot(machine.view(), snapshot) : machine.view()
  const { definition: source, home, state } = view
  if (linked) assertLinkable(view)
  using _reading = await sources.lockForReading(view, deadline)
  const clone = {
    ...cloneDefinition(source, { id, name, owner }),
    networks: source.networks.map(card => ({ ...card, mac: generateMac() })),
    ...(linked && { base: view.id }),
  }
  return await create(clone.id, async folder => {
    const copy = {
      ...{ source, attachments, home, folder, images, deadline, onProgress },
      ...(snapshot && { variables: getVariablesFile(snapshot.id) }),
    }
    const freeze = async (name: string): Promise<string> =>
      snapshot ? join(await realpath(home), name) : sources.freeze(view, name, { signal: deadline, onProgress })
    // Not interrupted: a freeze must complete before other operations use the disks of the source.
    const disks = await (linked
      ? linkDisks(copy, freeze)
      : state === 'running'
        ? copyRunningDisks(copy, machine, onConsistency)
        : abortableAfterGrace(deadline, copyDisks(copy)))
    await abortableAfterGrace(deadline, copyOwnFiles(source, copy))
    await copySeed(home, folder, clone)
    return { ...clone, disks }
  })
}
