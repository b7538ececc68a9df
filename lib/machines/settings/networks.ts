import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { NetworkMode } from '#lib/hypervisor/machine-parts.ts'
import { addCard, maxNetworks, setNetworkMode } from '#lib/hypervisor/network-modes.ts'
import { assertCount, findPart, replacePart, withoutPart } from './parts.ts'
import { type Change, parseValue, readOptions, type Setting, type Settings } from './setting.ts'

const describe =
  (name: string): Change['read'] =>
  ({ networks }) => {
    const card = networks.find(one => one.name === name)
    return card ? `${card.mode ?? 'open'}, ${card.mac}` : 'none'
  }

/** The operations on network cards. */
export const networkSettings: Settings = {
  add(operation, current) {
    assertCount('network cards', current.networks, maxNetworks)
    const { mode, card } = readOptions(operation, {
      mode: NetworkMode.default('isolated'),
      card: z.enum(['virtio', 'e1000']).optional(),
    })
    const added = addCard(current.networks, mode, card)
    const { name } = added
    return {
      field: name,
      apply: definition => ({ ...definition, networks: [...definition.networks, added] }),
      read: describe(name),
    }
  },
  set(operation, current) {
    const name = operation.value
    const card = findPart(current.networks, name)
    const { mode } = readOptions(operation, { mode: NetworkMode })
    return {
      field: name,
      apply: definition => ({ ...definition, networks: replacePart(definition.networks, { ...card, mode }) }),
      read: describe(name),
    }
  },
  remove(operation, current) {
    const name = operation.value
    findPart(current.networks, name)
    readOptions(operation, {})
    return {
      field: name,
      apply: definition => ({ ...definition, networks: withoutPart(definition.networks, name) }),
      read: describe(name),
    }
  },
}

/** Sets the mode of the first card, and what goes with it (see `setNetworkMode`). */
export const networkModeSetting: Setting = ({ value }, current) => {
  const mode = parseValue('network set', NetworkMode, value)
  if (current.networks.length === 0) throw new ServiceError('unsupported', `${current.name} has no network card.`)
  return {
    field: 'network',
    apply: definition => ({ ...definition, networks: [...setNetworkMode(definition.networks, mode)] }),
    read: ({ networks }) => (networks.find(card => card.mode === 'nat') ?? networks[0])?.mode ?? 'open',
  }
}
