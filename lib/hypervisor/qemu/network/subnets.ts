import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { runIp } from './host-commands.ts'
import { chooseFirstSubnet } from './names.ts'

const Addresses = z.array(
  z.object({ addr_info: z.array(z.object({ local: z.string().optional(), prefixlen: z.number() })) }),
)
const Routes = z.array(z.object({ dst: z.string() }))

/** All networks among machines have addresses below this. */
const range = '10.213'

const toNumber = (address: string): number =>
  address.split('.').reduce((number, part) => number * 256 + Number(part), 0)

/** Whether the networks `a` and `b`, as ADDRESS/LENGTH, have an address in common. */
const overlap = (a: string, b: string): boolean => {
  const [[address, length], [other, otherLength]] = [a, b].map(text => {
    const [host = '', bits = '32'] = text.split('/')
    return [toNumber(host), Number(bits)] as const
  }) as [readonly [number, number], readonly [number, number]]
  const size = 2 ** (32 - Math.min(length, otherLength))
  return Math.floor(address / size) === Math.floor(other / size)
}

/** Returns the first three numbers of the addresses on a bridge; undefined if it has none. */
export const findSubnet = async (bridge: string): Promise<string | undefined> => {
  const [found] = Addresses.parse(JSON.parse(await runIp('-4', '-json', 'address', 'show', 'dev', bridge)))
  return found?.addr_info[0]?.local?.split('.').slice(0, 3).join('.')
}

/**
 * Chooses the addresses of a network: the first three numbers. The same name gives the same ones, unless the host has a route
 * to them. Throws `unavailable` if none are free.
 */
export const chooseSubnet = async (network: string): Promise<string> => {
  const routes = Routes.parse(JSON.parse(await runIp('-4', '-json', 'route', 'show', 'table', 'all')))
    .map(({ dst }) => dst)
    .filter(dst => /^[0-9.]+(\/[1-9][0-9]?)?$/.test(dst))
  const first = chooseFirstSubnet(network)
  for (let at = 0; at < 256; at += 1) {
    const subnet = `${range}.${(first + at) % 256}`
    if (!routes.some(route => overlap(route, `${subnet}.0/24`))) return subnet
  }
  throw new ServiceError('unavailable', `network:${network}: the host has routes to all addresses below ${range}.`)
}
