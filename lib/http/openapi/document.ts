import type { Route } from '../endpoint.ts'
import { listMethodPaths } from '../method-table.ts'
import type { ApiDescription } from '../openapi.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { describeComponents, describeOperation } from './glossary.ts'
import type { Components } from './json-schema.ts'
import { buildOperation } from './operation.ts'
import { errorSchema, createRefusalComponents } from './refusals.ts'

const describeHeader = (description: string, type = 'string'): object => ({ description, schema: { type } })

const headers = {
  RequestId: describeHeader('Id of the request in the log of the service'),
  ETag: describeHeader('Version of the content of this reply'),
  Link: describeHeader('The next page, with rel="next"; absent on the last page (RFC 8288)'),
  Location: describeHeader('Path of the job, when the body is a job'),
  PreferenceApplied: describeHeader('The preferences that were honored (RFC 7240)'),
  RetryAfter: describeHeader('Seconds to wait', 'integer'),
  ContentRange: describeHeader('The range of these bytes, and the size of the whole'),
}

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A token from the sign-in' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'base64 of KEY:SECRET' },
}

/** The OpenAPI 3.1 document of these routes. */
export const describeRoutes = (routes: readonly Route[], version: string, about: ApiDescription): object => {
  const schemas: Components = { Error: errorSchema }
  const paths: Record<string, Record<string, object>> = {}
  for (const route of routes)
    for (const [method, path] of listMethodPaths(route.endpoint)) {
      const operation = buildOperation(route, method, path, { examples: about.examples, components: schemas })
      describeOperation(operation, about.glossary)
      ;(paths[toServedPath(path)] ??= {})[method.toLowerCase()] = operation
    }
  describeComponents(schemas, about.glossary)
  const areas = new Set(routes.map(({ id }) => id.replace(/\/.*/, '')))
  return {
    openapi: '3.1.0',
    info: {
      title: 'vmhost',
      version,
      description: about.description,
      contact: { name: 'The operator of this service' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that this document comes from' }],
    tags: [...areas].sort().map(name => ({ name, description: about.areas[name] })),
    paths,
    components: { schemas, securitySchemes, headers, responses: createRefusalComponents() },
  }
}
