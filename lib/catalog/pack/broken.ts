import { ServiceError } from '#lib/errors.ts'

/** A pack that is not taken, and why. */
export const broken = (why: string): ServiceError => new ServiceError('invalid', `The pack cannot be unpacked: ${why}.`)
