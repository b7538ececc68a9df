import { ServiceError } from '#lib/errors.ts'
import type { MachineView } from '#lib/hypervisor/driver.ts'
import type { Forward } from '#lib/hypervisor/machine-parts.ts'

/** All addresses of the host at once. */
const anyAddress = '0.0.0.0'

/** Names the end of a forward on the host. */
export const formatForwardId = ({ protocol, host_address: address, host_port: port }: Forward): string =>
  `${protocol}:${address}:${port}`

const isLoopback = (address: string): boolean => address.startsWith('127.')

/**
 * Throws `forbidden` for an address of the host that is neither the loopback nor allowed by the settings: behind it, everybody
 * on that network would reach the guest.
 */
export const assertAddressAllowed = ({ host_address: address }: Forward, allowed: readonly string[]): void => {
  if (isLoopback(address) || allowed.includes(address)) return
  throw new ServiceError(
    'forbidden',
    `host_address ${address}: forwards are opened on the loopback of the host (127.0.0.1), and on the addresses in the setting forward_addresses.`,
  )
}

const collide = (a: Forward, b: Forward): boolean =>
  a.protocol === b.protocol &&
  a.host_port === b.host_port &&
  (a.host_address === b.host_address || a.host_address === anyAddress || b.host_address === anyAddress)

/** Throws `conflict` if a machine of `views` has a port of `forwards`, or two of `forwards` have the same. */
export const assertPortsFree = (forwards: readonly Forward[], views: readonly MachineView[]): void => {
  for (const [at, forward] of forwards.entries()) {
    const id = formatForwardId(forward)
    if (forwards.slice(0, at).some(other => collide(forward, other)))
      throw new ServiceError('conflict', `The port ${id} would lead to two ports of the guest. Choose another one.`)
    const owner = views.find(({ definition }) => definition.forwards?.some(other => collide(forward, other)))
    if (owner)
      throw new ServiceError(
        'conflict',
        `The port ${id} is a forward of the machine ${owner.name}. Choose another one.`,
      )
  }
}
