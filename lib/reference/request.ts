import type { Operation, Parameter } from './description.ts'

/** What a reader has entered for a request: parameters by `formKey`, and the body as text or as a file. */
export interface Form {
  readonly values: Readonly<Record<string, string>>
  readonly body: string
  readonly file?: File
}

/** The credential that requests carry: a token or an API key; empty without one. */
export interface Credential {
  readonly kind: 'token' | 'key'
  readonly secret: string
}

/** A request that can be sent or shown. `path` has its query. */
export interface ReadyRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | File
}

/** The key under which a form keeps a parameter. Two parameters may have one name in different places. */
export const formKey = ({ in: place, name }: Parameter): string => `${place}:${name}`

/** The media type of the body that an operation takes; undefined if it takes none. */
export const getBodyType = ({ requestBody }: Operation): string | undefined =>
  Object.keys(requestBody?.content ?? {})[0]

/** The body that the document gives as an example, as text that a reader can change. */
export const formatExampleBody = ({ requestBody }: Operation): string => {
  const { example } = requestBody?.content['application/json'] ?? {}
  return example === undefined ? '' : JSON.stringify(example, undefined, 2)
}

/** The names of required parameters that have no value yet. */
export const listMissing = ({ parameters }: Operation, { values }: Form): readonly string[] =>
  parameters.filter(parameter => parameter.required && !values[formKey(parameter)]).map(({ name }) => name)

/** The problem of a body that is no JSON; undefined if the body is right, empty or a file. */
export const findBodyProblem = (operation: Operation, { body }: Form): string | undefined => {
  if (getBodyType(operation) !== 'application/json' || body.trim() === '') return undefined
  try {
    JSON.parse(body)
    return undefined
  } catch (error) {
    return `The body is not JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}

const toHeaders = ({ kind, secret }: Credential): Readonly<Record<string, string>> => {
  if (secret === '') return {}
  return kind === 'token' ? { Authorization: `Bearer ${secret}` } : { 'X-Api-Key': secret }
}

/** The request that a form describes. A path parameter without a value stays as `{name}`. */
export const buildRequest = (operation: Operation, form: Form, credential: Credential): ReadyRequest => {
  const given = operation.parameters.flatMap(parameter => {
    const value = form.values[formKey(parameter)] ?? ''
    return value === '' ? [] : [{ ...parameter, value }]
  })
  const path = given
    .filter(parameter => parameter.in === 'path')
    .reduce((text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(value)), operation.path)
  const query = new URLSearchParams(
    given.filter(parameter => parameter.in === 'query').map(({ name, value }) => [name, value]),
  ).toString()
  const headers = given.filter(parameter => parameter.in === 'header').map(({ name, value }) => [name, value] as const)
  const type = getBodyType(operation)
  const body = type === 'application/json' ? form.body.trim() : form.file
  const hasBody = body !== undefined && body !== ''
  return {
    method: operation.method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      ...toHeaders(credential),
      ...Object.fromEntries(headers),
      ...(hasBody && type !== undefined && { 'Content-Type': type }),
    },
    ...(hasBody && { body }),
  }
}
