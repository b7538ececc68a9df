import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { addMachine, gibibyte } from './disk-image.ts'
import { latencies } from './http.ts'
import { median, percentile } from './load.ts'
import { peakMemory, type Server, startBareFiles, startVmhost } from './processes.ts'
import { type Ask, askAs, signedIn } from './ask.ts'
import { limitRow, ratioRow, type Row } from './table.ts'

const rounds = 3
const password = 'Correct-Horse-9-Battery'
const size = gibibyte

/** How a pack is compressed, by the service and by its floor. */
const kinds = {
  none: { request: {}, push: '', pull: 'x' },
  'gzip 1': { request: { compress_pack: true, compress_level: 1 }, push: '| gzip -1', pull: 'xz' },
} as const
type Kind = keyof typeof kinds

const shell = (script: string, ...args: readonly string[]): Promise<unknown> =>
  promisify(execFile)('/bin/bash', ['-eo', 'pipefail', '-c', script, 'bash', ...args])

/** Seconds that something takes, with nothing of what was before left to write. */
const timed = async (run: () => unknown): Promise<number> => {
  await shell('sync')
  const begun = performance.now()
  await run()
  return (performance.now() - begun) / 1000
}

const push = (ask: Ask, version: string, { request }: { request: object }): Promise<{ pack_path: string }[]> =>
  ask('POST', '/catalog/push', {
    catalog_id: 'bench',
    version,
    connection: 'provider=local-storage',
    uuid: 'source',
    ...request,
  })
const pull = (ask: Ask, version: string): Promise<{ machine_id: string }> =>
  ask('PUT', '/catalog/pull', { catalog_id: 'bench', version, machine_name: 'copy' })

/** A service whose catalog is on its own disk, with one machine to push. */
const withService = async <T>(
  { bytes, content }: { bytes: number; content: 'used' | 'sparse' },
  use: (service: { server: Server; ask: Ask; state: string; home: string }) => Promise<T>,
): Promise<T> => {
  const state = mkdtempSync(join(tmpdir(), 'vmhost-bench-'))
  try {
    const home = addMachine(state, 'source', bytes, content)
    const server = await startVmhost(state, {
      VMHOST_ROOT_PASSWORD: password,
      VMHOST_DRIVER: 'qemu',
      VMHOST_CACHE_SIZE: '0',
    })
    try {
      return await use({ server, ask: await askAs(server, password), state, home })
    } finally {
      await server.stop()
    }
  } finally {
    rmSync(state, { recursive: true })
  }
}

/**
 * Push and pull against tar, gzip and curl, turn by turn. What the service answers for is on the disk, so the floor's
 * files are synced too.
 */
const speedRows = (): Promise<readonly Row[]> =>
  withService({ bytes: size, content: 'used' }, async ({ ask, state, home }) => {
    const files = await startBareFiles(join(state, 'catalog', 'bench'))
    const seen = new Map<string, number[]>()
    const note = async (what: string, run: () => unknown): Promise<void> => {
      seen.set(what, [...(seen.get(what) ?? []), await timed(run)])
    }
    try {
      for (let round = 0; round < rounds; round += 1)
        for (const [kind, how] of Object.entries(kinds)) {
          const version = `${kind} ${round}`.replaceAll(' ', '.')
          const work = join(state, 'floor')
          mkdirSync(work)
          let pack = ''
          await note(`push ${kind}`, async () => {
            pack = (await push(ask, version, how))[0]!.pack_path
          })
          await note(`tar ${kind}`, () =>
            shell(`tar -C "$1" -cf - . ${how.push} > "$2"; sync "$2"`, home, join(work, 'pack')),
          )
          let machine = ''
          await note(`pull ${kind}`, async () => {
            machine = (await pull(ask, version)).machine_id
          })
          const url = `http://127.0.0.1:${files.port}/${pack}`
          await note(`curl ${kind}`, () => shell(`curl -sf "$1" | tar -C "$2" -${how.pull}; sync "$2"/*`, url, work))
          await ask('DELETE', `/machines/${machine}`)
          await ask('DELETE', `/catalog/bench/${version}?clean_remote=true`)
          rmSync(work, { recursive: true })
        }
    } finally {
      await files.stop()
    }
    const rate = (what: string): number => size / 1e6 / median(seen.get(what)!)
    const row = (what: string, measured: string, floor: string): Row =>
      ratioRow(what, { measured: rate(measured), floor: rate(floor), unit: 'MB/s', digits: 0 }, { least: 0.7 })
    return (Object.keys(kinds) as Kind[]).flatMap(kind => [
      row(`push of 1 GiB, ${kind}: against tar and sync`, `push ${kind}`, `tar ${kind}`),
      row(`pull of 1 GiB, ${kind}: against curl, tar and sync`, `pull ${kind}`, `curl ${kind}`),
    ])
  })

/** MB that the service has held at most, after a push and a pull of a disk. */
const memoryOf = (bytes: number): Promise<number> =>
  withService({ bytes, content: 'sparse' }, async ({ server, ask }) => {
    await push(ask, '1', kinds['gzip 1'])
    await pull(ask, '1')
    return peakMemory(server.pid)
  })

const memoryRow = async (): Promise<Row> => {
  const small = await memoryOf(gibibyte)
  const large = await memoryOf(4 * gibibyte)
  return ratioRow(
    'peak memory of a push and a pull of 4 GiB, against 1 GiB',
    { measured: large, floor: small, unit: 'MB', digits: 0 },
    { most: 1.15 },
  )
}

/** How long others wait for a small GET while machines are packed, sent, fetched and unpacked. */
const latencyRow = (): Promise<Row> =>
  withService({ bytes: size, content: 'used' }, async ({ server, ask }) => {
    const url = `http://127.0.0.1:${server.port}/api/v1/machines/source/status`
    const headers = await signedIn(server, password)
    const quiet = percentile(await latencies(url, headers, 3_000), 0.99)
    let ended = false
    const transfers = push(ask, '1', kinds.none)
      .then(() => pull(ask, '1'))
      .finally(() => (ended = true))
    const taken: number[] = []
    while (!ended) taken.push(...(await latencies(url, headers, 200)))
    await transfers
    return limitRow(
      'p99 of GETs while 1 GiB is pushed and pulled',
      { measured: percentile(taken, 0.99), floor: quiet, unit: 'ms' },
      50,
    )
  })

export const transferRows = async (): Promise<readonly Row[]> => [
  ...(await speedRows()),
  await memoryRow(),
  await latencyRow(),
]
