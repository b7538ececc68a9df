import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { routes as table } from '#functions/routes.gen.ts'
import type { Route } from '#lib/http/endpoint.ts'
import { toPathPattern } from '#lib/calls/paths.ts'
import { areas, writtenAreas } from './areas.ts'
import type { Ask, Case } from './case.ts'
import { pairsOf } from './cases/contract/places.ts'
import { hasSeenEffect } from './conform.ts'
import { generalDifferences } from './difference.ts'
import { runtimes } from './runtimes/all.ts'

const routes: readonly Route[] = table

/**
 * Endpoints whose effect needs an operating system or an agent in the guest, a keyboard, or a part of an earlier reply, and the tests in
 * which it shows.
 */
const shownElsewhere: Readonly<Record<string, string>> = {
  'auth/use-link': 'test/functions/auth/browser-sessions.test.ts',
  'machines/tunnel': 'test/service/guest-network.test.ts',
  'machines/console': 'test/contracts/console.ts',
  'machines/screen': 'test/contracts/screen.ts',
  'machines/screenshot': 'test/contracts/screen.ts',
  'machines/execute': 'test/functions/machines/execute.test.ts',
  'machines/show-cloud-init': 'test/functions/machines/cloud-init-status.test.ts',
  'machines/read-file': 'test/functions/machines/guest-files.test.ts',
  'machines/write-file': 'test/functions/machines/guest-files.test.ts',
}

const cases = areas.flatMap(area => area.cases)
const written = writtenAreas.flatMap(area => area.cases)

const toMethod = (method: string): string => (['STREAM', 'SOCKET', 'HEAD'].includes(method) ? 'GET' : method)

/** The rows of the routing table as patterns; one without parameters comes before one with them. */
const patterns = routes
  .flatMap(({ id, endpoint }) => pairsOf(endpoint).map(([method, path]) => ({ id, method, path })))
  .sort((a, b) => (a.path.replaceAll('{', '~') < b.path.replaceAll('{', '~') ? -1 : 1))
  .map(({ id, method, path }) => ({ id, method, pattern: toPathPattern(path) }))

/** The endpoint that a request is for; undefined when there is none. */
const findEndpoint = ([method, target]: Ask): string | undefined => {
  const path = target.split('?')[0]!
  return patterns.find(row => row.method === toMethod(method) && row.pattern.test(path))?.id
}

const isOf =
  (id: string) =>
  ({ request }: { readonly request: Ask }): boolean =>
    findEndpoint(request) === id

const succeeds = ({ status = 200, request: [method] }: Pick<Case, 'request'> & { readonly status?: number }): boolean =>
  status < 300 && method !== 'HEAD'

/** Endpoints that only a host asks, in the middle of the request of such a case. */
const askedByHosts: Readonly<Record<string, string>> = { 'hosts/pack': 'pull a machine from another service' }

describe('the cases', () => {
  test.each(routes.map(route => [route.id, route] as const))(
    '%s has cases that succeed, and what follows from its contract',
    (id, { endpoint }) => {
      const own = written.filter(isOf(id))
      const test = shownElsewhere[id]
      if (test !== undefined) {
        expect(own.length).toBeGreaterThanOrEqual(1)
        return expect(readFileSync(test, 'utf8')).toContain(endpoint.path.split('/').at(-1))
      }
      const seen = written.flatMap(({ effects = [] }) => effects).filter(isOf(id))
      const around = written.filter(({ name }) => name === askedByHosts[id])
      expect([...own, ...seen, ...around].filter(succeeds), 'no case succeeds').not.toEqual([])
      if (endpoint.effect === 'change') expect(own.filter(hasSeenEffect), 'no case looks at its effect').not.toEqual([])
      expect(cases.filter(isOf(id)).length).toBeGreaterThanOrEqual(1)
    },
  )

  test('are enough, and each area has a test', () => {
    const differing = cases.filter(({ differs }) => differs)
    const general = runtimes.flatMap(({ name }) => generalDifferences[name])
    const effects = cases.filter(hasSeenEffect).length
    console.log(
      [
        `${cases.length} cases in ${areas.length} areas, ${effects} of them with a success and a seen effect`,
        ...runtimes.map(({ name, absence }) => `${name}: ${absence === '' ? 'here' : `left out, ${absence}`}`),
        ...differing.flatMap(({ name, differs = {} }) =>
          Object.entries(differs).map(
            ([runtime, { reason, parts }]) => `${runtime}, ${name}: ${parts.join(', ')}: ${reason}`,
          ),
        ),
        ...general.map(({ reason, parts }) => `${parts.join(', ')}: ${reason}`),
      ].join('\n'),
    )
    expect(cases.length).toBeGreaterThanOrEqual(600)
    expect(effects).toBeGreaterThanOrEqual(200)
    const tests = globSync('test/conformance/*.test.ts').map(file => readFileSync(file, 'utf8'))
    expect(tests.filter(text => /^conform\(/m.test(text))).toHaveLength(areas.length)
  })

  test('a declared difference has a reason and names its parts', () => {
    const declared = [
      ...cases.flatMap(({ differs = {} }) => Object.values(differs)),
      ...runtimes.flatMap(({ name }) => generalDifferences[name]),
    ]
    expect(declared.filter(({ reason, parts }) => reason.length < 20 || parts.length === 0)).toEqual([])
  })
})
