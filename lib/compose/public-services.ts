import { createReadiness } from '#lib/health/readiness.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { type ApiDescription, createOpenApi } from '#lib/http/openapi.ts'
import type { Services } from './services.ts'
import { version } from './version.ts'

/**
 * The services that need no state folder, so the edge has them too. The edge serves the routes that use no others. It cannot
 * verify tokens, because only the host knows which tokens were signed out and whose password or key has changed.
 */
export const publicServiceNames = ['openapi', 'readiness'] as const satisfies readonly (keyof Services)[]

interface PublicPorts {
  readonly routes: readonly Route[]
  readonly loadApiDescription: () => Promise<ApiDescription>
  /** Gives why the program takes no changes; undefined if it does. */
  readonly getFailure: () => string | undefined
}

/** Composes the services of a program without a state folder: the edge. */
export const composePublicServices = ({
  routes,
  loadApiDescription,
  getFailure,
}: PublicPorts): Pick<Services, (typeof publicServiceNames)[number]> => ({
  openapi: createOpenApi(routes, version, loadApiDescription),
  readiness: createReadiness(getFailure),
})
