import { rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { StoredManifest } from '#lib/catalog/manifest-schema.ts'
import { applyRegistration } from '#lib/catalog/register.ts'
import { RegisterManifest } from '#lib/catalog/schemas.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { signedIn } from './ask.ts'
import { percentile } from './load.ts'
import { type Server, startBare, startVmhost } from './processes.ts'
import { stateWith } from './state.ts'
import { limitRow, type Row } from './table.ts'

const password = 'Correct-Horse-9-Battery'
const manifests = 20_000
const requests = 1_000

interface Read {
  /** Milliseconds. */
  readonly taken: number
  readonly bytes: number
  readonly next: string | undefined
}

const manifestOf = (at: number): StoredManifest =>
  applyRegistration(
    RegisterManifest.parse({
      catalog_id: `image-${Math.floor(at / 4)}`,
      version: `1.${at % 4}`,
      architecture: 'x86_64',
      type: 'qemu',
      description: 'A machine of the benchmark, with a line of text that says what it is for',
      tags: ['stable', `group-${at % 50}`],
      provider: { type: 'local-storage', meta: {} },
      size: 20 * 2 ** 30,
      pack_size: 2 ** 30,
      path: `/image-${Math.floor(at / 4)}`,
    }),
    undefined,
    { at: new Date(at).toISOString() },
  )

const stateWithManifests = async (): Promise<string> => {
  const folder = stateWith(0)
  await using store = await openStore({ folder })
  const kept = store.collection('catalog-manifests', StoredManifest, {
    unique: { place: ({ catalog_id, version, architecture }) => `${catalog_id} ${version} ${architecture}` },
  })
  for (let made = 0; made < manifests; made += 1_000)
    await store.commit(Array.from({ length: 1_000 }, (_, at) => kept.put(manifestOf(made + at))))
  return folder
}

/** GETs, one after the other over one connection. Their bytes are not kept, so that no collection of this process is measured. */
const createReader = ({ port }: Server, headers: Readonly<Record<string, string>> = {}) => {
  const agent = new Agent({ keepAlive: true })
  return {
    get: (path: string): Promise<Read> =>
      new Promise((resolve, reject) => {
        const begun = performance.now()
        const sent = get({ port, path, headers, agent }, reply => {
          let bytes = 0
          reply.on('data', (chunk: Buffer) => void (bytes += chunk.length))
          reply.once('end', () => {
            if (reply.statusCode !== 200) return reject(new Error(`${path}: ${reply.statusCode}`))
            const taken = performance.now() - begun
            resolve({ taken, bytes, next: /<(.*)>/.exec(reply.headers.link?.toString() ?? '')?.[1] })
          })
        })
        sent.once('error', reject)
      }),
    close: () => agent.destroy(),
  }
}

/** Pages of 100 of a large catalog, one after the other to its end and from its begin again, and as many bytes of a bare server. */
export const inventoryRows = async (): Promise<readonly Row[]> => {
  const state = await stateWithManifests()
  const [bare, server] = await Promise.all([startBare(), startVmhost(state, { VMHOST_ROOT_PASSWORD: password })])
  const catalog = createReader(server, await signedIn(server, password))
  const floor = createReader(bare)
  try {
    const first = '/api/v1/catalog?limit=100'
    const { bytes } = await catalog.get(first)
    /** p99 in milliseconds of pages, before every tenth of which a download may be counted, and of the bare server. */
    const pages = async (counted: boolean): Promise<{ measured: number; floor: number }> => {
      const taken = { page: [] as number[], bare: [] as number[] }
      let path = first
      for (let at = 0; at < requests; at += 1) {
        if (counted && at % 10 === 9) await catalog.get(`/api/v1/catalog/image-${at}/1.2/x86_64/download`)
        const page = await catalog.get(path)
        taken.page.push(page.taken)
        path = page.next ?? first
        await setTimeout(5)
        taken.bare.push((await floor.get(`/bytes/${bytes}`)).taken)
        await setTimeout(5)
      }
      return { measured: percentile(taken.page, 0.99), floor: percentile(taken.bare, 0.99) }
    }
    await pages(false)
    const unit = { unit: 'ms', digits: 2 }
    return [
      limitRow(`p99 of pages of 100 of ${manifests} manifests`, { ...unit, ...(await pages(false)) }, 10),
      limitRow('the same, a download counted at every tenth', { ...unit, ...(await pages(true)) }, 10),
    ]
  } finally {
    catalog.close()
    floor.close()
    await Promise.all([server.stop(), bare.stop()])
    rmSync(state, { recursive: true })
  }
}
