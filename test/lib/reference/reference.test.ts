import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { loadApiDescription } from '#functions/load-api-description.ts'
import { routes } from '#functions/routes.gen.ts'
import { createOpenApi } from '#lib/http/openapi.ts'
import { formatCurl } from '#lib/reference/curl.ts'
import {
  type Description,
  filterOperations,
  listOperations,
  listReplies,
  type Operation,
} from '#lib/reference/description.ts'
import { buildRequest, findBodyProblem, formatExampleBody, formKey, listMissing } from '#lib/reference/request.ts'
import { formatType, listLimits, listMembers } from '#lib/reference/schema-text.ts'

const description = JSON.parse((await createOpenApi(routes, '0', loadApiDescription).document()).text) as Description
const operations = listOperations(description)
const named = (id: string): Operation => operations.find(({ operationId }) => operationId === id)!
const token = { kind: 'token', secret: 'SECRET' } as const

/** The arguments that a shell gives to curl for a command. */
const readArguments = (command: string): readonly string[] =>
  execFileSync('/bin/sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], {
    encoding: 'utf8',
    env: { TOKEN: 'of-the-shell', KEY: 'key-of-the-shell' },
  })
    .split('\0')
    .slice(0, -1)

describe('the reference', () => {
  test('has every operation of the document, and finds it by words of its path and its texts', () => {
    const count = Object.values(description.paths).flatMap(Object.keys).length
    expect(operations).toHaveLength(count)
    expect(filterOperations(operations, '')).toHaveLength(count)
    expect(filterOperations(operations, 'put MACHINES start').map(one => one.operationId)).toContain(
      'machines.start.put',
    )
    expect(filterOperations(operations, 'start nothing-of-this-name')).toEqual([])
  })

  test('names the type of every parameter, body and reply, and has the text of every refusal', () => {
    for (const operation of operations) {
      for (const { schema } of operation.parameters) expect(formatType(schema, description)).not.toBe('any')
      const replies = listReplies(operation, description).map(([, reply]) => reply)
      expect(replies.every(reply => !reply.description.startsWith('#'))).toBe(true)
      for (const { content = {} } of [...(operation.requestBody ? [operation.requestBody] : []), ...replies])
        for (const { schema } of Object.values(content))
          // It ends for schemas that hold themselves, too.
          if (schema) expect(listMembers(schema, description).every(({ name }) => name !== '')).toBe(true)
    }
  })

  test.for([
    [{ type: 'array', items: { $ref: '#/components/schemas/Machine' } }, 'array of Machine', []],
    [{ type: ['string', 'null'], minLength: 1, maxLength: 9 }, 'string or null', ['1 to 9 characters']],
    [{ type: 'string', format: 'binary' }, 'bytes', []],
    [
      { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 5 },
      'integer',
      ['default 5', 'at least 0'],
    ],
    [{ type: 'string', enum: ['a', 'b'] }, 'string', ['one of "a", "b"']],
    [{ type: 'object', additionalProperties: { type: 'string' } }, 'object of string', []],
  ] as const)('writes %j as %s', ([schema, type, limits]) => {
    expect(formatType(schema, description)).toBe(type)
    expect(listLimits(schema)).toEqual(limits)
  })
})

describe('a request of the reference', () => {
  test('has the values of the form in their places', () => {
    const operation = named('machines.console')
    const [id, search] = ['path:id', 'query:search']
    expect(operation.parameters.map(formKey)).toEqual(expect.arrayContaining([id, search]))
    expect(listMissing(operation, { values: {}, body: '' })).toEqual(['id'])
    const form = { values: { [id]: 'a/b c', [search]: 'x&y', 'query:follow': '' }, body: '' }
    expect(buildRequest(operation, form, token)).toEqual({
      method: 'GET',
      path: '/api/v1/machines/a%2Fb%20c/console?search=x%26y',
      headers: { Authorization: 'Bearer SECRET' },
    })
  })

  test('has the example as its body, until that is no JSON any more', () => {
    const operation = named('machines.create')
    const body = formatExampleBody(operation)
    expect(JSON.parse(body)).toHaveProperty('name')
    const form = { values: { 'header:Prefer': 'wait=3' }, body }
    expect(buildRequest(operation, form, { kind: 'key', secret: 'S' })).toEqual({
      method: 'POST',
      path: '/api/v1/machines',
      headers: { 'X-Api-Key': 'S', Prefer: 'wait=3', 'Content-Type': 'application/json' },
      body,
    })
    expect(findBodyProblem(operation, form)).toBeUndefined()
    expect(findBodyProblem(operation, { ...form, body: '{' })).toMatch(/^The body is not JSON: /)
  })

  test('is the same as a curl command, which names the credential and does not have it', () => {
    const body = `{"description":"It's $HOME, \`id\` and \\\\"}`
    const form = { values: { 'path:id': "a'b" }, body }
    const command = formatCurl(buildRequest(named('machines.set'), form, token), 'https://host.example:8443', 'a b.bin')
    expect(command).not.toContain('SECRET')
    expect(readArguments(command)).toEqual([
      ...['-X', 'PUT', "https://host.example:8443/api/v1/machines/a'b/set"],
      ...['-H', 'Authorization: Bearer of-the-shell', '-H', 'Content-Type: application/json'],
      ...['--data', body, '-o', 'a b.bin'],
    ])
    const file = new File(['x'], 'disk one.img')
    const upload = buildRequest(named('images.upload'), { values: { 'path:name': 'a' }, body: '', file }, token)
    expect(readArguments(formatCurl(upload, 'http://localhost')).slice(-2)).toEqual(['--data-binary', '@disk one.img'])
  })
})
