// Written by build/routes.ts. Do not edit; run `npm run routes`.
import healthProbe from './health/probe.ts'
import openapiShow from './openapi/show.ts'
import authValidateOwnToken from './auth/validate-own-token.ts'
import authValidateToken from './auth/validate-token.ts'
import type { Route } from '#lib/http/endpoint.ts'

export const routes = [
  { id: 'health/probe', endpoint: healthProbe }, // GET /health/probe
  { id: 'openapi/show', endpoint: openapiShow }, // GET /openapi.json
  { id: 'auth/validate-own-token', endpoint: authValidateOwnToken }, // GET /v1/auth/token/validate
  { id: 'auth/validate-token', endpoint: authValidateToken }, // POST /v1/auth/token/validate
] as const satisfies readonly Route[]
