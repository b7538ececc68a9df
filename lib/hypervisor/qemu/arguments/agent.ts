import { fileNames } from '../file-names.ts'
import { buildDevice, buildSocket } from './options.ts'

/** Returns the arguments of the channel to the guest agent: a port of a virtio serial controller. */
export const buildAgentArguments = (): string[] => [
  ...buildSocket('agent', fileNames.agentSocket, 'off'),
  ...buildDevice({ driver: 'virtio-serial-pci', id: 'serial0', addr: '0x3' }),
  ...buildDevice({
    driver: 'virtserialport',
    id: 'agent',
    bus: 'serial0.0',
    chardev: 'agent',
    name: 'org.qemu.guest_agent.0',
  }),
]
