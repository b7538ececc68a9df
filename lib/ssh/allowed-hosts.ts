import { lookup } from 'node:dns/promises'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { addressMatcher, isAddressRule } from '#lib/platform/client-address.ts'

/** Finds the address to connect to. Throws `forbidden` for a host that is not allowed, `upstream` for an unknown one. */
export type ResolveHost = (host: string) => Promise<string>

/** Whether a rule is a name with `*`; what looks like an address must be one, or it would allow what nobody meant. */
export const isHostRule = (rule: string): boolean => isAddressRule(rule) || /^(?=.*[a-z*])[\w.*-]+$/i.test(rule)

/** `allowed`: names with `*`, addresses and ranges such as 10.0.0.0/8; empty allows every host. */
export const createResolveHost = (allowed: readonly string[]): ResolveHost => {
  const inRange = addressMatcher(allowed.filter(isAddressRule))
  const names = allowed
    .filter(rule => !isAddressRule(rule))
    .map(rule => new RegExp(`^${rule.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i'))

  return async host => {
    const addresses = await lookup(host, { all: true }).catch((error: unknown) => {
      throw new ServiceError('upstream', `The host ${host} cannot be found: ${messageOf(error)}.`)
    })
    const byName = allowed.length === 0 || names.some(name => name.test(host))
    // What was checked is what is connected to: the name is not looked up again.
    const found = addresses.find(({ address }) => byName || inRange(address))
    if (!found)
      throw new ServiceError(
        'forbidden',
        `The host ${host} is not among those that commands may be run on (ssh_allowed_hosts).`,
      )
    return found.address
  }
}
