import { firmwareFile } from '../../files/machine-files.ts'
import { buildBlockNode } from '../block-node.ts'
import type { ResolvedDefinition } from '../attached-files.ts'

/** Returns the arguments of the UEFI firmware: its code, which is read-only, and the machine's own variables. */
export const buildFirmwareArguments = ({ firmware, firmwareCode }: ResolvedDefinition): string[] =>
  firmware === 'uefi' && firmwareCode !== undefined
    ? [
        ...[
          '-blockdev',
          JSON.stringify({ 'node-name': 'firmware', 'read-only': true, ...buildBlockNode('raw', [firmwareCode]) }),
        ],
        ...['-blockdev', JSON.stringify({ 'node-name': 'variables', ...buildBlockNode('qcow2', [firmwareFile]) })],
      ]
    : []
