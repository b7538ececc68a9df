import { ServiceError } from '#lib/errors.ts'

/** For drivers and machines in tests without registered images. */
export const refuseImage = async (reference: string): Promise<never> => {
  throw new ServiceError('not-found', `There is no image ${reference} in this test.`)
}
