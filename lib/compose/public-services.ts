import { createReadiness } from '#lib/health/readiness.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { type ApiDescription, createOpenApi } from '#lib/http/openapi.ts'
import type { Services } from './services.ts'
import { version } from './version.ts'

interface PublicPorts {
  readonly routes: readonly Route[]
  readonly loadApiDescription: () => Promise<ApiDescription>
  /** Gives why the program takes no changes; undefined if it does. */
  readonly getFailure: () => string | undefined
}

/** Composes the services that need no store. */
export const composePublicServices = ({
  routes,
  loadApiDescription,
  getFailure,
}: PublicPorts): Pick<Services, 'openapi' | 'readiness'> => ({
  openapi: createOpenApi(routes, version, loadApiDescription),
  readiness: createReadiness(getFailure),
})
