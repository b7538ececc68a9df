import { afterAll, beforeAll, expect, test } from 'vitest'
import { listMethodPaths } from '#lib/http/method-table.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import { listStatuses } from '#lib/http/endpoint-statuses.ts'
import { hostRoutes as routes } from '#lib/compose/hosts/host-routes.ts'
import { exchangeBytes, isWhole, readReply } from '../support/raw-exchange.ts'
import { newState, rootPassword, type Service, startService } from '../support/service.ts'
import { bodyChanges, changes, parameterChanges } from '../support/unsound-requests.ts'

// It makes a pair of keys each time, and reads nothing of its request.
const slow = new Set(['auth/rotate-key'])
const pairs = routes.flatMap(({ id, endpoint }) =>
  listMethodPaths(endpoint).map(([method, path]) => ({
    ...{ id, method, path: toServedPath(path), known: listStatuses(endpoint), readsBody: endpoint.body !== undefined },
    methods: method === 'GET' && endpoint.effect === 'read' ? ['GET', 'HEAD'] : [method],
  })),
)

const state = newState()
let service: Service
let key: string
beforeAll(async () => {
  service = await startService({
    state: state.path,
    env: { VMHOST_ROOT_PASSWORD: rootPassword, VMHOST_LISTEN: 'http://127.0.0.1:0', VMHOST_DEMO: 'off' },
  })
  const token = await service.signIn()
  // A key outlives the sign-outs, which a token would not.
  key = (await service.call('POST', '/api/v1/auth/api_keys', { token, body: { name: 'unsound' } })).body.encoded
})
afterAll(async () => {
  await service.stop()
  state[Symbol.dispose]()
})

interface Sent {
  readonly name: string
  readonly method: string
  readonly target: string
  readonly headers: readonly string[]
  readonly body: string
  /** The statuses that its reply may have. */
  readonly known: readonly number[]
}

/** Why the reply is not as it is documented; undefined when it is. */
const faultOf = async ({ method, target, headers, body, known }: Sent): Promise<string | undefined> => {
  const says = (name: string): boolean => headers.some(line => line.toLowerCase().startsWith(`${name}:`))
  const head = [
    ...['Host: x', `X-Api-Key: ${key}`, ...(says('connection') ? [] : ['Connection: close']), ...headers],
    ...(body === '' || says('content-length') || says('transfer-encoding') ? [] : [`Content-Length: ${body.length}`]),
  ]
  const bytes = `${method} ${target} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`
  const port = Number(new URL(service.url).port)
  try {
    const reply = readReply(await exchangeBytes(port, bytes, text => isWhole(text, method)))
    const told = `${reply.status} ${reply.body.slice(0, 200)}`
    if (!known.includes(reply.status) || reply.status === 500) return told
    if (reply.status < 400 || reply.status === 416 || method === 'HEAD') return undefined
    const { code, message } = JSON.parse(reply.body)
    const isDocumented = code === reply.status && typeof message === 'string' && message !== ''
    return isDocumented && reply.headers.get('content-type') === 'application/json' ? undefined : told
  } catch (error) {
    return String(error)
  }
}

/** Sends all of them, some at a time; gives those that were not answered as documented. */
const faultsOf = async (all: readonly Sent[]): Promise<string[]> => {
  const left = all.values()
  const faults: string[] = []
  const send = async (): Promise<void> => {
    for (const one of left) {
      const fault = await faultOf(one)
      if (fault !== undefined) faults.push(`${one.method} ${one.target.slice(0, 100)}, ${one.name}: ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: 16 }, send))
  return faults
}

const stillServes = async (): Promise<void> => {
  expect((await service.call('GET', '/api/health/probe')).status).toBe(200)
  expect(service.log()).toBe('')
}

test('every endpoint answers unsound requests as documented and at once', async () => {
  const sent = pairs
    .filter(({ id }) => !slow.has(id))
    .flatMap(({ method, path, known, readsBody }) =>
      [...changes, ...(readsBody ? bodyChanges : []), ...(path.includes('{') ? parameterChanges : [])].map(
        ([name, { parameter = 'x', query = '', headers = [], body = '', also = [] }]) => ({
          ...{ name, method, headers, body, known: [...known, ...also, 400] },
          target: path.replace(/\{\w+\}/g, () => parameter) + query,
        }),
      ),
    )
  expect(sent.length).toBeGreaterThan(8_000)
  expect(await faultsOf(sent)).toEqual([])
  await stillServes()
})

test('a method that a path does not have is refused', async () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']
  const sent = [...Map.groupBy(pairs, ({ path }) => path)].flatMap(([path, served]) => {
    const taken = new Set<string>(served.flatMap(one => one.methods))
    return methods
      .filter(method => !taken.has(method))
      .map(method => ({
        ...{ name: 'another method', method, headers: [], body: '', known: [405] },
        target: path.replace(/\{\w+\}/g, 'x'),
      }))
  })
  expect(await faultsOf(sent)).toEqual([])
  await stillServes()
})

test('requests that reach no endpoint are answered too', async () => {
  const port = Number(new URL(service.url).port)
  const host = 'Host: x\r\nConnection: close\r\n\r\n'
  const cases = [
    [`CONNECT /api/v1/machines HTTP/1.1\r\n${host}`, 501],
    [`CONNECT example.test:443 HTTP/1.1\r\nHost: example.test:443\r\n\r\n`, 501],
    [`OPTIONS * HTTP/1.1\r\n${host}`, 400],
    [`GET /%00/%ff/..%2f HTTP/1.1\r\n${host}`, 404],
    [`GET api/v1/machines HTTP/1.1\r\n${host}`, 400],
    [`get /api/v1/machines HTTP/1.1\r\n${host}`, 400],
    [`GET /api/v1/machines HTTP/9.9\r\n${host}`, 400],
    ['GET /api/v1/ws/subscribe HTTP/1.1\r\nHost: a b\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', 400],
    ['GET /api/v1/ws/subscribe HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', 400],
  ] as const
  for (const [bytes, status] of cases) {
    const { status: answered, body } = readReply(await exchangeBytes(port, bytes))
    expect([answered, JSON.parse(body)], bytes.slice(0, 60)).toMatchObject([
      status,
      { code: status, message: expect.any(String) },
    ])
  }
  await stillServes()
})
