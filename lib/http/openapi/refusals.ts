/** The name under `components.responses` and the description of each refusal, by status. */
const refusals: Readonly<Record<number, readonly [name: string, description: string]>> = {
  400: ['BadRequest', 'Not valid: the message and `stack` name what is wrong. Nothing was done'],
  401: ['Unauthorized', 'No credential, or one that is not valid (any more)'],
  403: ['Forbidden', 'The caller lacks a right that the message names'],
  404: ['NotFound', 'It does not exist, or this caller may not see it'],
  405: ['MethodNotAllowed', 'The remote service does not take this method'],
  409: ['Conflict', 'The current state does not allow it: the message says why and what to do'],
  412: ['PreconditionFailed', 'Its ETag is not one that If-Match names. Nothing was done'],
  413: ['TooLarge', 'The body is larger than this endpoint reads'],
  426: ['UpgradeRequired', 'This is a WebSocket'],
  429: ['TooManyRequests', 'Too many failures; Retry-After says how many seconds to wait'],
  500: [
    'InternalError',
    'A defect of the service; its log has the details under the request id that the message names',
  ],
  502: ['BadGateway', 'Another service, a storage or the hypervisor failed'],
  503: ['Unavailable', 'Not possible at the moment: try again later'],
  504: ['Timeout', 'It took too long and was given up'],
  507: ['NoSpace', 'A disk of the service is full'],
}

const describeHeaders = (status: number): object => ({
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  ...([429, 503].includes(status) && { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } }),
})

/** The schema of an error. It includes both error shapes. */
export const errorSchema = {
  type: 'object',
  description: 'Says what happened, why, and what to do.',
  required: ['code', 'message'],
  properties: {
    code: { type: 'integer', description: 'The HTTP status' },
    message: { type: 'string', description: 'What happened, why, and what to do' },
    stack: {
      type: 'array',
      description: 'Causes, one by one',
      items: {
        type: 'object',
        properties: {
          code: { type: 'integer', description: 'The HTTP status' },
          error: { type: 'string', description: 'What is wrong' },
          description: { type: 'string', description: 'More about it' },
          path: { type: 'string', description: 'Where in the request' },
        },
      },
    },
    error: { type: 'string', description: 'Type of OAuth, with 401, 403 and 429 and refused sign-ins' },
    error_description: { type: 'string', description: 'The message once more, beside `error`' },
  },
}

/** All refusals as entries for `components.responses`. */
export const createRefusalComponents = (): Readonly<Record<string, object>> =>
  Object.fromEntries(
    Object.entries(refusals).map(([status, [name, description]]) => [
      name,
      {
        description,
        headers: describeHeaders(Number(status)),
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/Error' },
            example: { code: Number(status), message: `${description}.` },
          },
        },
      },
    ]),
  )

/** A reference to the refusal with this status. Throws when the table has none. */
export const createRefusalReference = (status: number): object => {
  const [name] = refusals[status] ?? []
  if (name === undefined) throw new Error(`no refusal with the status ${status} is described`)
  return { $ref: `#/components/responses/${name}` }
}
