import type { Logger } from '#lib/platform/log.ts'
import type { Definition } from '../../definition.ts'
import type { MachineFolders } from '../../files/machine-folders.ts'
import type { Attachments } from '../attached-files.ts'
import type { CloneSources } from '../clone-sources.ts'
import type { Images } from '../images.ts'
import type { QemuMachine } from '../machine.ts'
import type { ForkJournal } from '../../forks/journal.ts'

/** What forks are made with. */
export interface ForkContext {
  readonly folders: Pick<MachineFolders, 'create' | 'home' | 'writeDefinition'>
  readonly journal: ForkJournal
  readonly images: Images
  readonly attachments: Attachments
  readonly sources: Pick<CloneSources, 'makeRoom' | 'lockForReading'>
  readonly createMachine: (definition: Definition) => QemuMachine
  readonly register: (machine: QemuMachine) => void
  /** Ends the QEMU of a machine that is not registered, and removes all that there is of the machine. */
  readonly discard: (id: string) => Promise<void>
  readonly log: Logger
}
