import { BlockList, isIP } from 'node:net'
import { memoize } from '#lib/async/memoize.ts'

/** Returns the address of the client of a request, from the address of the connection and, if it is needed, X-Forwarded-For. */
export type ClientAddress = (peer: string, getForwardedFor: () => string | undefined) => string

/** Parses an address without its brackets, port, zone and IPv6 mapping of IPv4. Returns undefined if the text is no address. */
const parsePlainAddress = (text: string): string | undefined => {
  const trimmed = text.trim()
  const bare =
    /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(trimmed)?.[1] ?? trimmed
  const address = bare.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(address) === 0 ? undefined : address
}

const createBlockList = (rules: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const rule of rules) {
    const [address = '', bits] = rule.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}

/** Creates the check whether an address matches one of these addresses and ranges, which `isAddressRule` has passed. */
export const createAddressMatcher = (rules: readonly string[]): ((address: string) => boolean) => {
  // Created at the first use, because it would cost the start of the service several milliseconds.
  let list: BlockList | undefined
  return address => (list ??= createBlockList(rules)).check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Creates the function that finds the address of a client. It believes X-Forwarded-For of the proxies that `trusted` names. */
export const createClientAddress = (trusted: readonly string[]): ClientAddress => {
  const isProxy = createAddressMatcher(trusted)
  // Cached, because a few connections send all requests.
  const getPeerAddress = memoize(1_000, peer => parsePlainAddress(peer) ?? peer)

  return (peer, getForwardedFor) => {
    let address = getPeerAddress(peer)
    const forwardedFor = trusted.length === 0 ? undefined : getForwardedFor()
    if (forwardedFor === undefined) return address
    // Each proxy appends the address of its peer. A client may have made up everything before the first address that is no proxy.
    for (const hop of forwardedFor.split(',').toReversed()) {
      const previous = parsePlainAddress(hop)
      if (previous === undefined || !isProxy(address)) return address
      address = previous
    }
    return address
  }
}

/** True if a rule is an address or a range of addresses. */
export const isAddressRule = (rule: string): boolean => {
  const [address = '', bits, ...more] = rule.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32))
}
