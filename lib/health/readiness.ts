import { ServiceError } from '#lib/errors.ts'

/** Whether the service is ready for requests, for load balancers and supervisors. */
export interface Readiness {
  /** Throws `unavailable` when the service cannot take changes. */
  check(): void
}

/** @param failure gives why the store takes no changes; the reason is not shown, because the probe is public */
export const createReadiness = (failure: () => string | undefined): Readiness => ({
  check() {
    if (failure() !== undefined)
      throw new ServiceError('unavailable', 'The service takes no changes at this moment; its log says why.')
  },
})
