import { lookup } from 'node:dns/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { createAddressMatcher, isAddressRule } from '#lib/platform/client-address.ts'

/** Returns the address to connect to. Throws `forbidden` for a host that is not allowed, `upstream` for an unknown one. */
export type ResolveHost = (host: string) => Promise<string>

/**
 * Says whether a text is a rule: a name, also with `*`, or an address. A text that looks like an address must be one, because
 * as a name it would allow hosts that nobody meant.
 */
export const isHostRule = (rule: string): boolean => isAddressRule(rule) || /^(?=.*[a-z*])[\w.*-]+$/i.test(rule)

/** `allowed` has names, also with `*`, and addresses or ranges such as 10.0.0.0/8. An empty list allows every host. */
export const createResolveHost = (allowed: readonly string[]): ResolveHost => {
  const isAllowedAddress = createAddressMatcher(allowed.filter(isAddressRule))
  const namePatterns = allowed
    .filter(rule => !isAddressRule(rule))
    .map(rule => new RegExp(`^${rule.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i'))

  return async host => {
    const addresses = await lookup(host, { all: true }).catch((error: unknown) => {
      throw new ServiceError('upstream', `The host ${host} cannot be found: ${messageOf(error)}.`)
    })
    const isAllowedName = allowed.length === 0 || namePatterns.some(pattern => pattern.test(host))
    // The connection goes to the address that was checked here. A second lookup could give another one.
    const found = addresses.find(({ address }) => isAllowedName || isAllowedAddress(address))
    if (!found)
      throw new ServiceError(
        'forbidden',
        `The host ${host} is not among those that commands may be run on (ssh_allowed_hosts).`,
      )
    return found.address
  }
}
