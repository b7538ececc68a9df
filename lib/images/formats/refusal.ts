import { ServiceError } from '#lib/errors.ts'
import { maxVirtualSize } from './facts.ts'

/** Refuses an image. `why` completes the sentence "The … image cannot be used: it …". */
export type Refuse = (why: string) => never

/** Creates a function that throws `invalid` for an image of a format. */
export const createRefuse =
  (format: string): Refuse =>
  why => {
    throw new ServiceError('invalid', `The ${format} image cannot be used: ${why}.`)
  }

/** Returns the size of a disk as a guest sees it. Throws by `refuse` for a size that no disk has. */
export const checkVirtualSize = (size: number, refuse: Refuse): number => {
  if (size === 0) refuse('its disk is empty')
  if (size % 512 !== 0) refuse(`its disk has ${size} bytes, which is no multiple of 512`)
  if (size > maxVirtualSize) refuse(`its disk is larger than ${maxVirtualSize / 2 ** 40} TB`)
  return size
}
