import type { Accelerator } from '../accelerator.ts'
import type { ResolvedDefinition } from '../attached-files.ts'
import type { Links } from '../network/netdev.ts'
import { buildAgentArguments } from './agent.ts'
import { buildBoardArguments } from './board.ts'
import { buildCdRomArguments } from './cdroms.ts'
import { buildChannelArguments } from './channels.ts'
import { buildDiskArguments } from './disks.ts'
import { buildFirmwareArguments } from './firmware.ts'
import { generateIdePlaces } from './ide.ts'
import { buildIncomingArguments, buildMachineArguments, type Incoming } from './machine.ts'
import { isModern } from '../../parts.ts'
import { buildNetworkArguments } from './networks.ts'
import { buildOption } from './options.ts'
import { buildSeedArguments } from './seed.ts'
import { buildSharedFolderArguments } from './shared-folders.ts'

/**
 * Returns the command line of a machine, without the program. Paths of own files are relative to the machine's folder. `links` are
 * the ends of network cards on the host.
 */
export const buildQemuArguments = (
  definition: ResolvedDefinition,
  accelerator: Accelerator,
  { incoming, links = new Map() }: { readonly incoming?: Incoming; readonly links?: Links } = {},
): string[] => {
  const nextIdePlace = generateIdePlaces(definition)
  return [
    ...buildMachineArguments(definition, accelerator, incoming),
    ...buildChannelArguments(),
    ...(isModern(definition) ? [...buildBoardArguments(definition), ...buildAgentArguments()] : []),
    ...buildFirmwareArguments(definition),
    ...buildDiskArguments(definition, nextIdePlace),
    ...buildCdRomArguments(definition, nextIdePlace),
    ...buildNetworkArguments(definition, links),
    ...buildSharedFolderArguments(definition),
    ...buildSeedArguments(definition.seed),
    ...buildOption('-kernel', definition.kernel),
    ...buildOption('-initrd', definition.initrd),
    ...buildOption('-append', definition.cmdline),
    ...(incoming ? buildIncomingArguments(incoming) : []),
  ]
}
