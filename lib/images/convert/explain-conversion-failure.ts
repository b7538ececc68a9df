import { type Fault, ServiceError } from '#lib/errors.ts'
import { type Finished, getLastLine } from '#lib/platform/processes.ts'
import type { ResourceLimits } from './resource-limits.ts'

/** What qemu-img says, with the fault and the message that follow from it. */
const faults: readonly { readonly text: RegExp; readonly fault: Fault; readonly message: string }[] = [
  {
    text: /no space left/i,
    fault: 'no-space',
    message: 'The disk of the host is full. Free space, then try again.',
  },
  {
    text: /is another process using/i,
    fault: 'conflict',
    message: 'The image is in use by another program of this host. End that first.',
  },
  {
    text: /failed to execute/i,
    fault: 'unavailable',
    message: 'qemu-img could not be started, so no image can be converted. Install it.',
  },
  {
    text: /permission denied/i,
    fault: 'unavailable',
    message: 'qemu-img may not read the image on this host, so it was not converted.',
  },
  {
    text: /allocate/i,
    fault: 'unavailable',
    message: 'qemu-img got too little memory to convert the image. Try again later.',
  },
  {
    text: /while reading|could not open/i,
    fault: 'invalid',
    message: 'The image cannot be converted: its content is damaged.',
  },
]

/**
 * Explains why a conversion failed: by the limit that ended it, or by what the program said. That can name paths of the host, so
 * it becomes the cause, which is logged and not sent.
 */
export const explainConversionFailure = ({ code, signal, stderr }: Finished, limits: ResourceLimits): ServiceError => {
  const cause = new Error(getLastLine(stderr) || `qemu-img ended with ${signal ?? code}`)
  if (signal === 'SIGXFSZ' || /file too large/i.test(stderr))
    return limits.isLimitedBySpace
      ? new ServiceError('no-space', 'The host has too little free space for the content of this image. Free space.')
      : new ServiceError('invalid', 'The image cannot be converted: it has more content than its tables name.')
  if (signal === 'SIGXCPU')
    return new ServiceError('timeout', 'The conversion of the image needs more time than its size explains.', { cause })
  if (signal === 'SIGKILL')
    return new ServiceError(
      'unavailable',
      'The host ended the conversion of the image: it took more than a day, or memory was short. Try again.',
      { cause },
    )
  const found = faults.find(({ text }) => text.test(stderr))
  if (found) return new ServiceError(found.fault, found.message, { cause })
  return new ServiceError('upstream', 'qemu-img could not convert the image; the log has what it said.', { cause })
}
