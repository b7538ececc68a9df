import { createHash } from 'node:crypto'

/** All interfaces and tables of this service on the host begin with this, so that it touches nothing else. */
export const prefix = 'vmhost'

/** The most characters of the name of an interface of Linux are 15. */
const hashLength = 9

const hash = (text: string, length: number): string => {
  const digits = BigInt(`0x${createHash('sha256').update(text).digest('hex')}`).toString(36)
  return digits.slice(-length)
}

/** Returns the name of the tap of a card. It follows from the machine, so that every start finds the same one. */
export const nameTap = (machineId: string, card: string): string =>
  `${prefix}${hash(`${machineId}/${card}`, hashLength)}`

/** Returns the name of the interface that limits what the guest sends over a card (`rates.ts`). */
export const nameShaper = (machineId: string, card: string): string =>
  `${prefix}${hash(`${machineId}/${card}/sent`, hashLength)}`

/** Returns the name of the bridge of a network: `folder` is the folder of the networks of this service. */
export const nameBridge = (folder: string, network: string): string =>
  `${prefix}${hash(`${folder}/${network}`, hashLength)}`

/** Identifies the service with this folder in the aliases of its interfaces: another service may run on the same host. */
export const nameService = (folder: string): string => `${prefix} ${hash(folder, 12)}`

/** Returns the third number of the addresses of a network at which the search for a free one begins. */
export const chooseFirstSubnet = (network: string): number => createHash('sha256').update(network).digest().readUInt8(0)

/** Returns a locally administered MAC address for a bridge, which would otherwise have that of the lowest of its members. */
export const chooseBridgeMac = (bridge: string): string => {
  const bytes = createHash('sha256').update(bridge).digest('hex')
  return `02:${[0, 2, 4, 6, 8].map(at => bytes.slice(at, at + 2)).join(':')}`
}

/** Turns the name of a machine or a network into a name of the DNS: lower-case letters, digits and hyphens. */
export const toDnsName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '') || 'machine'
