import * as z from 'zod'
import { beforeAll, describe, expect, test } from 'vitest'
import { ServiceError } from '#lib/errors.ts'
import { createApp } from '#lib/http/app.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { parseFilter } from '#lib/calls/list-filter.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { readSetting } from '#lib/machines/settings/table.ts'
import type { Services } from '#lib/compose/services.ts'
import { routes as table } from '#functions/routes.gen.ts'
import { type Call, callOf } from '../support/harness.ts'

const routes = table as readonly Route[]

/** Words of the validation library. The service reports mistakes in its own words instead. */
const foreign =
  /invalid input|invalid option|invalid string|too small|too big|expected|received|unrecognized|NaN|regex|pattern/i

interface Shape {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
  readonly additionalProperties?: Shape | boolean
  readonly $ref?: string
}

/** A value of each type; no field accepts all of them. */
const odd: readonly unknown[] = [
  ...[undefined, true, 7, -1, 0.5, 1e300, '', ' ', '\u0000', '../x', 'x'.repeat(9_000), 'nonsense !'],
  ...[[], [7], [''], ['x'.repeat(9_000)], {}, { nonsense: 7 }, Array.from({ length: 300 }, () => 'x')],
]

/** Odd values for a schema, and for each member of it with the others left out. */
const wrongFor = (shape: Shape): readonly unknown[] => [
  ...odd,
  ...Object.entries(shape.properties ?? {}).flatMap(([name, member]) =>
    wrongFor(member).map(value => ({ [name]: value })),
  ),
  ...(shape.items ? wrongFor(shape.items).map(value => [value]) : []),
  ...(shape.anyOf ?? []).flatMap(wrongFor),
  ...(typeof shape.additionalProperties === 'object' ? wrongFor(shape.additionalProperties).map(key => ({ key })) : []),
]

const shapeOf = (schema: z.ZodType | undefined): Shape =>
  schema ? (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Shape) : {}

/** Services whose calls do nothing but report that the request was accepted. */
const taken = (): never => {
  throw new ServiceError('unavailable', 'taken')
}
const noServices = new Proxy({} as Services, {
  get: () => new Proxy(taken, { get: () => taken, apply: taken }),
})

describe('mistakes of a request are reported in the words of the service', () => {
  let call: Call
  beforeAll(() => {
    const root = {
      id: '',
      username: 'root',
      email: '',
      roles: ['SUPER_USER'],
      claims: new Set<string>(),
      superUser: true,
    }
    call = callOf(
      createApp({
        routes,
        services: noServices,
        authenticate: async () => root,
        parseFilter,
        onOutcome: () => {},
        checkReplies: false,
      }),
    )
  })

  const reasons = new Set<string>()
  const told = async (method: string, path: string, body?: unknown): Promise<readonly string[]> => {
    const answer = await call(method, path, body === undefined ? {} : { body: JSON.stringify(body) })
    for (const { error } of answer.body?.stack ?? []) reasons.add(error)
    return answer.status === 400 && foreign.test(JSON.stringify(answer.body)) ? [answer.body.message] : []
  }

  test.each(routes.map(route => [route.id, route] as const))('%s', async (_id, { endpoint }) => {
    const { method, path, query, body } = endpoint
    const at = toServedPath(path).replace(/\{\w+\}/g, 'something')
    const wrong: string[] = []
    for (const segment of ['%20', '%00', '..%2Fx', 'x'.repeat(2_000)])
      wrong.push(...(await told(method, toServedPath(path).replace(/\{\w+\}/g, segment))))
    for (const name of Object.keys(shapeOf(query).properties ?? {}))
      for (const value of odd.filter(one => typeof one === 'string' || typeof one === 'number'))
        wrong.push(...(await told(method, `${at}?${new URLSearchParams({ [name]: String(value) })}`)))
    if (body) for (const value of wrongFor(shapeOf(body))) wrong.push(...(await told(method, at, value)))
    expect([...new Set(wrong)]).toEqual([])
  })

  test('each kind of mistake has one message, which says what to do', () => {
    expect([...reasons].filter(reason => !/^(must|is missing$|name, email|\w+: not known)/.test(reason))).toEqual([])
    // For a text that is a list, the message that it is a list is enough.
    expect([...reasons].filter(reason => /more than (25[45]|1024) entries/.test(reason))).toEqual([])
  })

  test('values of the settings of a machine', () => {
    const [id, created_at] = [crypto.randomUUID(), '']
    const hardware = { cpus: 1, memory: 16, disks: [], networks: [] }
    const definition = { id, name: 'one', description: '', created_at, ...hardware }
    const wrong: string[] = []
    for (const [group, operation] of [
      ['cpu', 'set'],
      ['memory', 'set'],
      ['machine', 'rename'],
      ['description', 'set'],
      ['network', 'set'],
      ['display', 'set'],
      ['device', 'add'],
      ['device', 'set'],
      ['device', 'remove'],
      ['boot-order', 'boot-order'],
      ['boot-order', 'bios-type'],
      ['shared-folder', 'add'],
      ['shared-folder', 'set'],
      ['limits', 'cpu_percent'],
      ['limits', 'disk_bytes_per_second'],
    ] as const)
      for (const value of odd.map(String)) {
        try {
          readSetting({ group, operation, value, options: [], flags: [] }, definition, new Map())
        } catch (error) {
          const { message } = error as Error
          if (foreign.test(message)) wrong.push(`${group} ${operation}: ${message}`)
        }
      }
    expect(wrong).toEqual([])
  })
})
