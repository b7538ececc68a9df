import { rmSync } from 'node:fs'
import { type Load, type LoadResult, openLoad, percentile, type Target } from './load.ts'
import { type Server, startBare, startBareHono, startVmhost } from './processes.ts'
import { stateWith } from './state.ts'
import { ratioRow, type Row } from './table.ts'

// Many short turns: a machine that others share changes its speed within seconds, and a case and its floor must see the same speed.
const rounds = 100
const milliseconds = 100
const password = 'Correct-Horse-9-Battery'

const signIn = async ({ port }: Server): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}/api/v1/auth/token`, {
    method: 'POST',
    body: JSON.stringify({ email: 'root', password }),
  })

interface Case {
  readonly server: Server
  readonly target: Target
}

/**
 * Measures every case in each round. A case and its floor are compared within a round, where both see the same noise: the result is
 * the round whose ratio is the median. The first rounds only warm up.
 */
const measure = async (cases: Readonly<Record<string, Case>>) => {
  const loads: [string, Load][] = []
  for (const [name, { server, target }] of Object.entries(cases)) loads.push([name, await openLoad(server, target)])
  const seen: Readonly<Record<string, LoadResult>>[] = []
  for (let round = -10; round < rounds; round += 1) {
    const results: Record<string, LoadResult> = {}
    for (const [name, load] of loads) results[name] = await load.run(milliseconds)
    if (round >= 0) seen.push(results)
  }
  for (const [, load] of loads) load.close()
  return (name: string, floorName: string, figure: keyof LoadResult) => {
    const pairs = seen.map(results => ({ measured: results[name]![figure], floor: results[floorName]![figure] }))
    pairs.sort((a, b) => a.measured / a.floor - b.measured / b.floor)
    return pairs[Math.floor(pairs.length / 2)]!
  }
}

/** How long small GETs take, one every five milliseconds, in milliseconds. */
export const latencies = async (
  url: string,
  headers: Record<string, string>,
  during: number,
): Promise<readonly number[]> => {
  const taken: number[] = []
  const end = performance.now() + during
  while (performance.now() < end) {
    const begun = performance.now()
    await (await fetch(url, { headers })).arrayBuffer()
    taken.push(performance.now() - begun)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
  return taken
}

/** Requests over one service with 100 machines, against node:http alone. */
export const httpRows = async (): Promise<readonly Row[]> => {
  const state = stateWith(100)
  const [bare, hono, vmhost] = await Promise.all([
    startBare(),
    startBareHono(),
    startVmhost(state, { VMHOST_ROOT_PASSWORD: password, VMHOST_LOG: 'info' }),
  ])
  try {
    const { token } = (await (await signIn(vmhost)).json()) as { token: string }
    const headers = { Authorization: `Bearer ${token}` }
    const list = await fetch(`http://127.0.0.1:${vmhost.port}/api/v1/machines`, { headers })
    const bytes = (await list.arrayBuffer()).byteLength
    const probe: Target = { path: '/api/health/probe' }
    const validate: Target = { method: 'POST', path: '/api/v1/auth/token/validate', body: JSON.stringify({ token }) }
    const results = await measure({
      // The same request: parsing a token's header costs the floor as much as it costs us.
      hello: { server: bare, target: { path: '/', headers } },
      status: { server: vmhost, target: { path: '/api/v1/machines/machine-50/status', headers } },
      unchanged: {
        server: vmhost,
        target: { path: '/api/v1/machines', headers: { ...headers, 'If-None-Match': list.headers.get('etag')! } },
      },
      bytes: { server: bare, target: { path: `/bytes/${bytes}`, headers } },
      list: { server: vmhost, target: { path: '/api/v1/machines', headers } },
      honoProbe: { server: hono, target: probe },
      probe: { server: vmhost, target: probe },
      honoValidate: { server: hono, target: validate },
      validate: { server: vmhost, target: validate },
    })
    const processor = (name: string, floor: string) => ({ ...results(name, floor, 'microseconds'), unit: 'µs CPU' })
    const rate = (name: string, floor: string) => ({ ...results(name, floor, 'perSecond'), unit: '/s', digits: 0 })

    const url = `http://127.0.0.1:${vmhost.port}/api/v1/machines/machine-50/status`
    const quiet = percentile(await latencies(url, headers, 3_000), 0.99)
    const flood = new AbortController()
    const floods = Array.from({ length: 8 }, async () => {
      while (!flood.signal.aborted) await (await signIn(vmhost)).arrayBuffer()
    })
    const flooded = percentile(await latencies(url, headers, 5_000), 0.99)
    flood.abort()
    await Promise.all(floods)

    return [
      ratioRow('signed-in small GET', processor('status', 'hello'), { most: 1.6 }),
      ratioRow('signed-in small GET, rate', rate('status', 'hello'), { least: 0.62 }),
      ratioRow('list of 100 machines, unchanged (304)', processor('unchanged', 'hello'), { most: 1.6 }),
      ratioRow(`list of 100 machines, ${Math.round(bytes / 1024)} KB`, processor('list', 'bytes'), { most: 1.15 }),
      ratioRow('health probe, against hono with the same reply', rate('probe', 'honoProbe'), { least: 1 }),
      ratioRow('validation of a token, against hono that reads it', rate('validate', 'honoValidate'), { least: 1 }),
      ratioRow(
        'p99 of GETs in a flood of sign-ins',
        { measured: flooded, floor: quiet, unit: 'ms', digits: 2 },
        { most: 2 },
      ),
    ]
  } finally {
    await Promise.all([bare.stop(), hono.stop(), vmhost.stop()])
    rmSync(state, { recursive: true })
  }
}
