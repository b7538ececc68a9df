import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { messageOf, ServiceError } from '#lib/errors.ts'

/** Finds the address to connect to. Throws `forbidden` for a host that is not allowed, `upstream` for an unknown one. */
export type ResolveHost = (host: string) => Promise<string>

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

const addRule = (list: BlockList, rule: string): boolean => {
  const [address = '', bits] = rule.split('/')
  if (isIP(address) === 0) return false
  if (bits === undefined) list.addAddress(address, familyOf(address))
  else list.addSubnet(address, Number(bits), familyOf(address))
  return true
}

/** `allowed`: names with `*`, addresses and ranges such as 10.0.0.0/8; empty allows every host. */
export const createResolveHost = (allowed: readonly string[]): ResolveHost => {
  const ranges = new BlockList()
  const names = allowed
    .filter(rule => !addRule(ranges, rule))
    .map(rule => new RegExp(`^${rule.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i'))

  return async host => {
    const addresses = await lookup(host, { all: true }).catch((error: unknown) => {
      throw new ServiceError('upstream', `The host ${host} cannot be found: ${messageOf(error)}.`)
    })
    const byName = allowed.length === 0 || names.some(name => name.test(host))
    // What was checked is what is connected to: the name is not looked up again.
    const found = addresses.find(({ address }) => byName || ranges.check(address, familyOf(address)))
    if (!found)
      throw new ServiceError(
        'forbidden',
        `The host ${host} is not among those that commands may be run on (ssh_allowed_hosts).`,
      )
    return found.address
  }
}
