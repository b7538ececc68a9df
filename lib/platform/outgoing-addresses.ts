import { isIP } from 'node:net'
import { createAddressMatcher } from './client-address.ts'

/** Recognizes the addresses that are not public (IANA special-purpose registries). */
const isSpecialPurpose = createAddressMatcher([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // The public addresses of IPv6 are 2000::/3, except these.
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
])
/** The networks that hosts of one installation use among themselves. To allow them does not allow a metadata address in them. */
export const privateNetworks = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
]
/** Recognizes the public addresses of IPv6. */
const isGlobalUnicast = createAddressMatcher(['2000::/3'])

/**
 * Recognizes the metadata services of AWS, Azure, Alibaba, Oracle, Google, Tencent and Scaleway. They give credentials to
 * everybody who can reach them.
 */
const isMetadataService = createAddressMatcher([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  '169.254.0.23',
  '169.254.42.42',
  'fd00:42::42',
])

/** Splits an IPv6 address into its eight groups. */
const splitGroups = (address: string): readonly number[] => {
  const parseGroups = (text: string): number[] => (text === '' ? [] : text.split(':').map(group => parseInt(group, 16)))
  // The URL parser knows every notation of an address and gives the shortest one.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [left, right] = [parseGroups(head), parseGroups(tail)]
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right]
}

/**
 * The IPv6 addresses that contain an IPv4 address, which begins at the group `start`: mapped, compatible, NAT64 (RFC 6052) and
 * 6to4 (RFC 3056).
 */
const embeddings: readonly { readonly prefix: readonly number[]; readonly start: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], start: 6 },
  { prefix: [0, 0, 0, 0, 0, 0], start: 6 },
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], start: 6 },
  { prefix: [0x2002], start: 1 },
]

/** Returns the IPv4 address to which a connection to this address leads, or the address itself if it contains none. */
const extractIpv4 = (address: string): string => {
  if (isIP(address) !== 6) return address
  const groups = splitGroups(address)
  const embedding = embeddings.find(({ prefix }) => prefix.every((group, index) => groups[index] === group))
  if (!embedding) return address
  const [high = 0, low = 0] = groups.slice(embedding.start)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** Returns true if this service may connect to an IP address. */
export type MayReach = (address: string) => boolean

/**
 * Creates the check of addresses. It lets the service connect to public addresses and to those that `allowed` names: addresses,
 * and ranges such as 10.0.0.0/8. A range does not include the metadata service of a cloud: `allowed` must name its address.
 */
export const createMayReach = (allowed: readonly string[]): MayReach => {
  const isNamed = createAddressMatcher(allowed.filter(rule => !rule.includes('/')))
  const isAllowed = createAddressMatcher(allowed)
  return address => {
    // Only a link-local address has a zone, which is a network interface of this host.
    if (isIP(address) === 0 || address.includes('%')) return false
    const target = extractIpv4(address)
    if (isMetadataService(target)) return isNamed(target)
    return isAllowed(target) || (!isSpecialPurpose(target) && (isIP(target) === 4 || isGlobalUnicast(target)))
  }
}
