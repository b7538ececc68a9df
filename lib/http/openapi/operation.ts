import type { Endpoint, Method, Path, Route } from '../endpoint.ts'
import { bytes, type Components, toJsonSchema } from './json-schema.ts'
import { toOperationId } from './operation-id.ts'
import { describeParameters } from './parameters.ts'
import { describeResponses } from './responses.ts'

/** A recorded request body of an endpoint, with its reply. */
export interface Example {
  readonly body?: unknown
  readonly reply?: unknown
}

/** Examples by the id of their route. */
export type Examples = Readonly<Record<string, Example>>

const allowsApiKeys = ({ access }: Endpoint): boolean => typeof access === 'string' || access.apiKeys !== false

const describeAccess = (endpoint: Endpoint): string => {
  const { access } = endpoint
  if (access === 'public') return 'Open to everybody.'
  if (access === 'signed-in') return 'For every signed-in caller.'
  const parts = [
    ...(access.roles ?? []).map(role => `role ${role}`),
    ...(access.claims ?? []).map(claim => `claim ${claim}`),
    ...(access.anyClaim ? [`one of the claims ${access.anyClaim.join(', ')}`] : []),
  ]
  return `Needs ${parts.join(' and ')}.${allowsApiKeys(endpoint) ? '' : ' API keys are refused.'}`
}

/** The description of the contract, followed by sentences about its other fields as far as they concern this method. */
const describeEndpoint = (endpoint: Endpoint, method: Method): string => {
  const { description, effect, job, secretReply } = endpoint
  return [
    ...(description ? [description] : []),
    describeAccess(endpoint),
    ...(effect === 'change' && method === 'GET'
      ? ['This GET changes something: it is refused to prefetching and to pages of other sites; PUT does the same.']
      : []),
    ...(job?.detached ? ['The service answers at once with a job.'] : []),
    ...(job?.repeatable ? ['The job goes on after a restart of the service.'] : []),
    ...(secretReply ? ['The reply holds a secret that is shown once.'] : []),
  ].join(' ')
}

const requestBodyOf = (endpoint: Endpoint, example: unknown, components: Components): object | undefined => {
  const { body, bodyMedia } = endpoint
  if (bodyMedia) return { required: true, content: { [bodyMedia]: { schema: bytes } } }
  return (
    body && {
      required: !body.safeParse(undefined).success,
      content: {
        'application/json': {
          schema: toJsonSchema(endpoint.passThrough?.body ?? body, 'body', components),
          ...(example !== undefined && { example }),
        },
      },
    }
  )
}

/** Describes a route at one of its method and path pairs. */
export const buildOperation = (
  route: Route,
  method: Method,
  path: Path,
  { examples, components }: { readonly examples: Examples; readonly components: Components },
): object => {
  const { id, endpoint } = route
  const example = examples[id]
  const requestBody = requestBodyOf(endpoint, example?.body, components)
  return {
    operationId: toOperationId(route, method, path),
    tags: [id.split('/')[0]],
    summary: endpoint.summary,
    description: describeEndpoint(endpoint, method),
    security:
      endpoint.access === 'public' ? [] : [{ bearer: [] }, ...(allowsApiKeys(endpoint) ? [{ apiKey: [] }] : [])],
    parameters: describeParameters(endpoint, path, components),
    ...(requestBody && { requestBody }),
    responses: describeResponses(endpoint, { done: example?.reply, job: examples['jobs/show']?.reply }, components),
  }
}
