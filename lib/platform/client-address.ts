import { BlockList, isIP } from 'node:net'
import { memoize } from '#lib/async/memoize.ts'

/** The address that a request comes from, given that of the connection and the value of X-Forwarded-For. */
export type ClientAddress = (peer: string, forwardedFor: string | undefined) => string

/** An address without brackets, port, zone, or the clothing of IPv4 in IPv6; undefined for what is none. */
const plainAddress = (text: string): string | undefined => {
  const trimmed = text.trim()
  const bare =
    /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  const address = bare.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) === 0 ? undefined : address
}

const blockListOf = (rules: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const rule of rules) {
    const [address = '', bits] = rule.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** Whether an address is one of these, or in one of these ranges: rules that `isAddressRule` passes. */
export const addressMatcher = (rules: readonly string[]): ((address: string) => boolean) => {
  // Made at the first use, because it costs the start of the service several milliseconds.
  let list: BlockList | undefined
  return address => (list ??= blockListOf(rules)).check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** `trusted`: the addresses and ranges of proxies that are believed when they say whom they speak for. Others are not. */
export const createClientAddress = (trusted: readonly string[]): ClientAddress => {
  const isProxy = addressMatcher(trusted)
  // The same few connections send all requests.
  const addressOf = memoize(1_000, peer => plainAddress(peer) ?? peer)

  return (peer, forwardedFor) => {
    let address = addressOf(peer)
    if (forwardedFor === undefined || trusted.length === 0) return address
    // Each proxy adds whom it heard at the end: what stands left of the first one that is not trusted may be made up.
    for (const hop of forwardedFor.split(',').toReversed()) {
      const said = plainAddress(hop)
      if (said === undefined || !isProxy(address)) return address
      address = said
    }
    return address
  }
}

/** Whether a rule is an address or a range of them. */
export const isAddressRule = (rule: string): boolean => {
  const [address = '', bits, ...more] = rule.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}
