import type { Endpoint } from '../endpoint.ts'
import { listStatuses, getSuccessStatus } from '../endpoint-statuses.ts'
import { bytes, type Components, toJsonSchema } from './json-schema.ts'
import { createRefusalReference } from './refusals.ts'

const job = { $ref: '#/components/schemas/Job' }
const text = { type: 'string' }

const referToHeader = (name: string): object => ({ $ref: `#/components/headers/${name}` })
const rangeHeaders = { 'Content-Range': referToHeader('ContentRange'), ETag: referToHeader('ETag') }

const preferenceHeaders = { 'Preference-Applied': referToHeader('PreferenceApplied') }

/** The bodies of a success by media type. */
const describeContent = (endpoint: Endpoint, example: unknown, components: Components): object => {
  const { media, passThrough } = endpoint
  const reply = passThrough?.reply ?? endpoint.reply
  const exampleMember = example !== undefined && { example }
  if (media === 'text/plain' || media === 'text/event-stream') return { [media]: { schema: text, ...exampleMember } }
  if (media === 'image/png') return { [media]: { schema: bytes } }
  if (media === '*/*') return { 'application/octet-stream': { schema: bytes, ...exampleMember } }
  return {
    'application/json': { schema: toJsonSchema(reply, 'reply', components), ...exampleMember },
    ...(media === 'application/octet-stream' && { [media]: { schema: bytes } }),
  }
}

const describeSuccess = (endpoint: Endpoint, example: unknown, components: Components): object =>
  endpoint.media === 'websocket'
    ? { description: 'The connection is a WebSocket now' }
    : {
        description: 'Done',
        headers: {
          'X-Request-Id': referToHeader('RequestId'),
          ...((endpoint.hasETag ?? endpoint.media === 'application/octet-stream') && { ETag: referToHeader('ETag') }),
          ...(endpoint.paged && { Link: referToHeader('Link') }),
          ...(endpoint.acceptsWait && preferenceHeaders),
        },
        content: describeContent(endpoint, example, components),
      }

const describeAccepted = (
  endpoint: Endpoint,
  examples: Record<'job' | 'done', unknown>,
  components: Components,
): object => {
  const canWait = endpoint.job?.detached !== true
  const hasOwnStatus = canWait && endpoint.status === 202
  const jobExample = examples.job !== undefined && { example: examples.job }
  return {
    description: hasOwnStatus
      ? 'Done; with Prefer: respond-async started, and the body is the job'
      : `Started as a job${canWait ? ', for Prefer: respond-async' : ''}`,
    headers: { 'X-Request-Id': referToHeader('RequestId'), Location: referToHeader('Location'), ...preferenceHeaders },
    content: {
      'application/json': hasOwnStatus
        ? {
            schema: { anyOf: [toJsonSchema(endpoint.reply, 'reply', components), job] },
            ...(examples.done !== undefined && { example: examples.done }),
          }
        : { schema: job, ...jobExample },
    },
  }
}

/** Every status that an endpoint can answer with, with the description of its body. */
export const describeResponses = (
  endpoint: Endpoint,
  examples: Record<'job' | 'done', unknown>,
  components: Components,
): Readonly<Record<string, object>> => {
  const describeResponse = (status: number): object => {
    if (status === 200 && endpoint.textFor)
      return {
        description: 'The output as text',
        content: { 'text/plain': { schema: text, ...(examples.done !== undefined && { example: examples.done }) } },
      }
    if (status === 202 && endpoint.job) return describeAccepted(endpoint, examples, components)
    if (status === getSuccessStatus(endpoint)) return describeSuccess(endpoint, examples.done, components)
    if (status === 206)
      return {
        description: 'The range of the bytes',
        headers: rangeHeaders,
        content: { 'application/octet-stream': { schema: bytes } },
      }
    if (status === 304)
      return { description: 'The caller has the current content already', headers: { ETag: referToHeader('ETag') } }
    if (status === 416) return { description: 'The range is beyond the end', headers: rangeHeaders }
    return createRefusalReference(status)
  }
  return Object.fromEntries(listStatuses(endpoint).map(status => [String(status), describeResponse(status)]))
}
