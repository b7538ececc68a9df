import { isIP } from 'node:net'
import { addressMatcher } from './client-address.ts'

/** All of IPv4 that is not of the public network (IANA special-purpose registry). */
const notPublic = addressMatcher([
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
  // Of IPv6 the public network is 2000::/3; these are the parts of it that are not.
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
])
/** What hosts of an installation have among themselves; a metadata address is in none of them by itself. */
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
const globalUnicast = addressMatcher(['2000::/3'])

/** Where clouds hand credentials to whoever asks: AWS, Azure, Alibaba, Oracle, Google, Tencent, Scaleway. */
const metadata = addressMatcher([
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

const groupsOf = (address: string): readonly number[] => {
  const numbers = (text: string): number[] => (text === '' ? [] : text.split(':').map(group => parseInt(group, 16)))
  // The URL parser knows every way to write one, and writes each in one way.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [left, right] = [numbers(head), numbers(tail)]
  return [...left, ...Array.from({ length: 8 - left.length - right.length }, () => 0), ...right]
}

/** Where IPv6 addresses carry one of IPv4: mapped, compatible, NAT64 (RFC 6052) and 6to4 (RFC 3056). */
const carriers: readonly { readonly prefix: readonly number[]; readonly at: number }[] = [
  { prefix: [0, 0, 0, 0, 0, 0xffff], at: 6 },
  { prefix: [0, 0, 0, 0, 0, 0], at: 6 },
  { prefix: [0x64, 0xff9b, 0, 0, 0, 0], at: 6 },
  { prefix: [0x2002], at: 1 },
]

/** The address that is meant in the end. */
const meant = (address: string): string => {
  if (isIP(address) !== 6) return address
  const groups = groupsOf(address)
  const carrier = carriers.find(({ prefix }) => prefix.every((group, at) => groups[at] === group))
  if (!carrier) return address
  const [high = 0, low = 0] = groups.slice(carrier.at)
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** Whether a connection to an IP address may be opened. */
export type MayReach = (address: string) => boolean

/**
 * Public addresses may be reached, and those that `allowed` names: addresses and ranges such as 10.0.0.0/8. The metadata
 * service of a cloud has to be named by itself: nobody means it who allows a range.
 */
export const createMayReach = (allowed: readonly string[]): MayReach => {
  const named = addressMatcher(allowed.filter(rule => !rule.includes('/')))
  const inRange = addressMatcher(allowed)
  return address => {
    // A zone is of link-local addresses alone, and names a network card of this host.
    if (isIP(address) === 0 || address.includes('%')) return false
    const target = meant(address)
    if (metadata(target)) return named(target)
    return inRange(target) || (!notPublic(target) && (isIP(target) === 4 || globalUnicast(target)))
  }
}
