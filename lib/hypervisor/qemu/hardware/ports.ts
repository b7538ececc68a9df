import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../../definition.ts'
import { getCardName, getDiskBus, getDiskName, getDriveBus, isModern } from '../../parts.ts'
import { portCount } from '../arguments/board.ts'
import { countIdePlaces } from '../arguments/ide.ts'

/**
 * Returns the definition with a free slot for every virtio disk and every card that has none. Where no slot is left, a part has
 * its place on the board, and cannot be removed while the machine runs. A part keeps its slot, so that the memory of a suspended
 * machine finds it there; the parts that `running` has keep their places on the board too.
 */
export const assignPorts = (definition: Definition, running?: Definition): Definition => {
  if (!isModern(definition)) return definition
  const { disks, networks } = definition
  const taken = new Set([...disks, ...networks].flatMap(({ port }) => port ?? []))
  const free = Array.from({ length: portCount }, (_, port) => port).filter(port => !taken.has(port))
  const fixed = new Set(running && [...running.disks.map(getDiskName), ...running.networks.map(getCardName)])
  const plug = <Part extends { port?: number | undefined }>(part: Part, name: string): Part => {
    if (part.port !== undefined || fixed.has(name)) return part
    const port = free.shift()
    return port === undefined ? part : { ...part, port }
  }
  return {
    ...definition,
    disks: disks.map((disk, at) =>
      getDiskBus(definition, disk, at) === 'virtio' ? plug(disk, getDiskName(disk, at)) : disk,
    ),
    networks: networks.map((card, at) => plug(card, getCardName(card, at))),
  }
}

/** Throws `invalid` if a machine has more IDE devices than it has places for them. */
export const assertIdePlaces = (definition: Definition): void => {
  const { disks, cdroms = [] } = definition
  const buses = [
    ...disks.map((disk, at) => getDiskBus(definition, disk, at)),
    ...cdroms.map(drive => getDriveBus(definition, drive)),
  ]
  const places = countIdePlaces(definition)
  if (buses.filter(bus => bus === 'ide').length > places)
    throw new ServiceError('invalid', `A machine has at most ${places} IDE disks and CD-ROM drives.`)
}
