import { describe, expect, test } from 'vitest'
import { apiDescription } from '#functions/api-description.ts'
import { loadApiDescription } from '#functions/load-api-description.ts'
import { routes } from '#functions/routes.gen.ts'
import { createOpenApi } from '#lib/http/openapi.ts'
import { test as served } from '../../support/harness.ts'

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly description?: string
  readonly $ref?: string
  readonly enum?: readonly string[]
}
interface Media {
  readonly schema?: Schema
  readonly example?: unknown
}
interface Operation {
  readonly at: string
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly description?: string
    readonly schema: { readonly pattern?: string; readonly minLength?: number; readonly maxLength?: number }
  }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string
        readonly headers?: Readonly<Record<string, object>>
        readonly content?: Record<string, Media>
      }
    >
  >
}

const text = (await createOpenApi(routes, '0', loadApiDescription).document()).text
const document = JSON.parse(text)
const operations: readonly Operation[] = Object.entries<Record<string, Operation>>(document.paths).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, one]) => ({ ...one, at: `${method} ${path}` })),
)
const named = (id: string): Operation => operations.find(({ operationId }) => operationId === id)!
/** The ids of the operations for which a check fails. */
const without = (isRight: (operation: Operation) => boolean): string[] =>
  operations.filter(one => !isRight(one)).map(({ operationId }) => operationId)

/** The members of a schema without a description. */
const undescribed = (schema: Schema, at: string): string[] => [
  ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
    ...(member.description === undefined && member.$ref === undefined ? [`${at}.${name}`] : []),
    ...undescribed(member, `${at}.${name}`),
  ]),
  ...[...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])].flatMap(inner => undescribed(inner, at)),
]

/** Whether the document allows a value of a header of an operation. */
const allowsHeader = (id: string, header: string, value: string): boolean => {
  const { schema } = named(id).parameters.find(({ name }) => name === header)!
  const { pattern, minLength = 0, maxLength = Infinity } = schema
  return new RegExp(pattern!, 'u').test(value) && value.length >= minLength && value.length <= maxLength
}

/** Every list of schemas that a part of the document has under a keyword of composition. */
const listCompositions = (part: unknown): readonly (readonly unknown[])[] => {
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]) => [
    ...(/^(all|any|one)Of$/.test(key) && Array.isArray(value) ? [value] : []),
    ...listCompositions(value),
  ])
}

describe('every operation of the OpenAPI document', () => {
  test('has a unique id of URL characters', () => {
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(id => !/^[a-z0-9]+([-._][a-zA-Z0-9]+)*$/.test(id))).toEqual([])
    expect(ids).toEqual(expect.arrayContaining(['machines.start', 'machines.start.put', 'catalog.show.version']))
  })

  test('has the parameters of its path and no others', () => {
    const wrong = without(({ at, parameters }) => {
      const names = parameters.filter(one => one.in === 'path').map(({ name }) => name)
      return [...at.matchAll(/\{(\w+)\}/g)].map(match => match[1]).join() === names.join()
    })
    expect(wrong).toEqual([])
  })

  test('has one tag, which the document describes, a summary, a description and described parameters', () => {
    const tags = new Map<string, string>(
      document.tags.map((tag: { name: string; description: string }) => [tag.name, tag.description]),
    )
    expect(without(({ tags: own }) => own.length === 1 && Boolean(tags.get(own[0]!)))).toEqual([])
    expect(without(({ summary, description }) => Boolean(summary && description))).toEqual([])
    expect(without(({ parameters }) => parameters.every(one => one.description))).toEqual([])
  })

  test('lists each refusal by its status', () => {
    expect(without(({ responses }) => Object.keys(responses).every(status => /^[1-5]\d\d$/.test(status)))).toEqual([])
    expect(without(({ responses }) => ['400', '500', '503'].every(status => status in responses))).toEqual([])
    expect(Object.keys(named('machines.create').responses).join(' ')).toBe(
      '201 202 400 401 403 409 413 500 502 503 504 507',
    )
    expect(Object.keys(named('catalog.describe').responses)).toContain('412')
  })

  test('has a schema of each body, of bytes too, under a media type that programs know', () => {
    const contents = ({ requestBody, responses }: Operation) =>
      [requestBody, ...Object.values(responses)].flatMap(part => Object.entries(part?.content ?? {}))
    expect(without(one => contents(one).every(([type, { schema }]) => schema && !type.includes('*')))).toEqual([])
  })

  test('names an Idempotency-Key only where the service keeps the reply: not for a WebSocket', () => {
    const takesKey = ({ parameters }: Operation) => parameters.some(({ name }) => name === 'Idempotency-Key')
    expect(takesKey(named('machines.start'))).toBe(true)
    expect(without(one => !('101' in one.responses && takesKey(one)))).toEqual([])
  })

  test('has examples of its body and its reply', () => {
    const bytes = new Set(['application/octet-stream', 'image/png'])
    const lacks = (content: Readonly<Record<string, Media>> = {}): boolean =>
      Object.entries(content).some(([type, { example }]) => !bytes.has(type) && example === undefined)
    expect(without(({ requestBody }) => !lacks(requestBody?.content))).toEqual([])
    const successes = ({ responses }: Operation) => ['200', '201', '202'].flatMap(status => responses[status] ?? [])
    // A host gets bytes there while it pulls, and nobody else asks.
    const missing = without(one => !successes(one).some(({ content }) => lacks(content)))
    expect(missing.filter(id => id !== 'hosts.pack')).toEqual([])
  })
})

describe('the OpenAPI document', () => {
  test('describes every member of every body and reply (descriptions can be added in functions/glossary.ts)', () => {
    const schemas = Object.entries<Schema>(document.components.schemas)
    // The nested settings of a machine are copied from the specification and have no descriptions.
    const inSchemas = schemas.flatMap(([name, schema]) =>
      undescribed(schema, name).filter(at => name !== 'Machine' || at.split('.').length === 2),
    )
    const inBodies = operations.flatMap(({ operationId, requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap(part =>
        Object.values(part?.content ?? {}).flatMap(({ schema }) => (schema ? undescribed(schema, operationId) : [])),
      ),
    )
    expect([...inSchemas, ...inBodies]).toEqual([])
  })

  test('allows null for optional members of bodies, and for no parameter', () => {
    const claim = named('claims.create').requestBody!.content['application/json']!.schema!.properties!
    expect(claim).toMatchObject({ name: { type: 'string' }, description: { type: ['string', 'null'] } })
    const query = JSON.stringify(operations.flatMap(({ parameters }) => parameters))
    expect(query).not.toContain('null')
  })

  test('requires a character other than a blank in text that is trimmed', () => {
    const { name } = named('machines.create').requestBody!.content['application/json']!.schema!.properties!
    const patterns = (name as { allOf: readonly { readonly pattern: string }[] }).allOf.map(
      one => new RegExp(one.pattern, 'u'),
    )
    const isAllowed = (text: string): boolean => patterns.every(pattern => pattern.test(text))
    expect([' \t\n', '\u3000', ' a '].map(isAllowed)).toEqual([false, false, true])
    expect(new Set(patterns.map(String)).size).toBe(patterns.length)
  })

  test('has no default that is an object, which generators of clients refuse', () => {
    expect(text).not.toContain('"default":{')
    expect(text).toContain('"default":')
  })

  test('has no composition of fewer than two schemas', () => {
    const compositions = listCompositions(document)
    expect(compositions.length).toBeGreaterThan(0)
    expect(compositions.filter(({ length }) => length < 2)).toEqual([])
  })

  served.for([
    ['claims.create', 'Idempotency-Key', ['', 'a b', 'k\u00e9y', 'k'.repeat(256)], ['k', '!~', 'k'.repeat(255)]],
    [
      'machines.list',
      'X-Filter',
      ['Name', '=', ' =a', 'Name=', 'a=b=c', 'Name=a,x', 'Name=a,i,i', `Name=${'a'.repeat(508)}`],
      ['', 'Name=^a', ' Name =a', 'Name=a,i', 'Name=a, i ', `Name=${'a'.repeat(507)}`],
    ],
  ] as const)('limits %s %s as the service does', async ([id, header, refused, taken], { call }) => {
    for (const value of [...refused, ...taken]) {
      const [method, path] = named(id).at.split(' ') as [string, string]
      const body = method === 'post' ? { name: `CLAIM_${value.length}` } : undefined
      const { status } = await call(method.toUpperCase(), `/api${path.replace(/^\/api/, '')}`, {
        headers: { [header]: value },
        ...(body && { body }),
      })
      const isTaken = (taken as readonly string[]).includes(value)
      expect([value, status < 400]).toEqual([value, isTaken])
      expect([value, allowsHeader(id, header, value)]).toEqual([value, isTaken])
    }
  })

  test('has no glossary entry without a member of that name', () => {
    const members = new Set([...text.matchAll(/"((?:[^"\\]|\\.)*)":\{/g)].map(match => match[1]))
    const parameters = new Set([...text.matchAll(/"name":"(\w+)","required"/g)].map(match => match[1]))
    const idle = Object.keys(apiDescription.glossary).filter(key => {
      const name = key.includes('.') ? key.slice(key.indexOf('.') + 1) : key
      return !members.has(name) && !parameters.has(name)
    })
    expect(idle).toEqual([])
  })

  test('has no broken reference and no schema without a name', () => {
    expect(text).not.toMatch(/\$defs|__schema/)
    const references = [...text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)].map(
      ([, kind, name]) => [kind!, name!] as const,
    )
    expect(references.filter(([kind, name]) => document.components[kind]?.[name] === undefined)).toEqual([])
  })

  test('describes the replies of real requests correctly', () => {
    const typesOf = (id: string): string[] => Object.keys(named(id).responses['200']?.content ?? {})
    expect(typesOf('metrics.show')).toEqual(['text/plain'])
    expect(typesOf('events.stream')).toEqual(['text/event-stream'])
    expect(typesOf('catalog.download')).toEqual(['application/json', 'application/octet-stream'])
    expect(Object.keys(named('events.subscribe').responses)).toEqual(expect.arrayContaining(['101', '426']))
    const { schema } = named('machines.delete').responses['202']!.content!['application/json']!
    expect(schema!.anyOf!.map(one => one.$ref)).toEqual(['#/components/schemas/Accepted', '#/components/schemas/Job'])
    expect(document.components.schemas.Machine.properties.State.enum).toEqual(
      expect.arrayContaining(['running', 'stopped', 'invalid', 'cloning']),
    )
  })

  test('shows the ETag of a changed manifest, and the body that a remote catalog expects', () => {
    expect(named('catalog.taint').responses['200']!.headers).toHaveProperty('ETag')
    const { schema } = named('catalog-managers.catalog-add-tags').requestBody!.content['application/json']!
    expect(Object.keys(schema!.properties!)).toEqual(['required_claims', 'required_roles', 'tags'])
  })

  served('is served with a tag that stands for it', async ({ call }) => {
    const first = await call('GET', '/api/openapi.json', { as: null })
    const etag = first.headers.get('etag')!
    expect(await call('GET', '/api/openapi.json', { as: null, headers: { 'if-none-match': etag } })).toMatchObject({
      status: 304,
    })
  })
})

test('a failure to read its texts is not kept: the next request finds them', async () => {
  let reads = 0
  const { document } = createOpenApi(routes, '0', () => {
    if (++reads === 1) throw new Error('no such file')
    return loadApiDescription()
  })
  await expect(document()).rejects.toThrow('no such file')
  expect((await document()).text).toBe(text)
})
