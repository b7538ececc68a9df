// Written by build/routes.ts. Do not edit; run `npm run routes`.
import healthProbe from './health/probe.ts'
import openapiShow from './openapi/show.ts'
import type { Route } from '#lib/http/endpoint.ts'

export const routes = [
  { id: 'health/probe', endpoint: healthProbe }, // GET /health/probe
  { id: 'openapi/show', endpoint: openapiShow }, // GET /openapi.json
] as const satisfies readonly Route[]
