import { rmSync } from 'node:fs'
import { StoredManifest } from '#lib/catalog/manifest.ts'
import { registeredManifest } from '#lib/catalog/register.ts'
import { RegisterManifest } from '#lib/catalog/requests.ts'
import { openStore } from '#lib/storage/open-store.ts'
import { signedIn } from './ask.ts'
import { percentile } from './load.ts'
import { startVmhost } from './processes.ts'
import { stateWith } from './state.ts'
import { limitRow, type Row } from './table.ts'

const password = 'Correct-Horse-9-Battery'
const manifests = 20_000
const requests = 1_000

const manifestOf = (at: number): StoredManifest =>
  registeredManifest(
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

/** Pages of 100 of a large catalog, one after the other to its end and from its begin again. */
export const inventoryRows = async (): Promise<readonly Row[]> => {
  const state = await stateWithManifests()
  const server = await startVmhost(state, { VMHOST_ROOT_PASSWORD: password })
  try {
    const origin = `http://127.0.0.1:${server.port}`
    const headers = await signedIn(server, password)
    const get = async (path: string): Promise<{ taken: number; next: string | undefined }> => {
      const begun = performance.now()
      const reply = await fetch(origin + path, { headers })
      await reply.arrayBuffer()
      if (!reply.ok) throw new Error(`${path}: ${reply.status}`)
      return { taken: performance.now() - begun, next: /<(.*)>/.exec(reply.headers.get('link') ?? '')?.[1] }
    }
    const first = '/api/v1/catalog?limit=100'
    const one = '/api/v1/catalog/image-7/1.0/x86_64'
    /** p99 in milliseconds of pages, before every tenth of which a download is counted. */
    const pages = async (counted: boolean): Promise<number> => {
      const taken: number[] = []
      let path = first
      for (let at = 0; at < requests; at += 1) {
        if (counted && at % 10 === 9) await get(`/api/v1/catalog/image-${at}/1.2/x86_64/download`)
        const page = await get(path)
        taken.push(page.taken)
        path = page.next ?? first
        await new Promise(resolve => setTimeout(resolve, 5))
      }
      return percentile(taken, 0.99)
    }
    const small = async (): Promise<number> => {
      const taken: number[] = []
      for (let at = 0; at < requests; at += 1) {
        taken.push((await get(one)).taken)
        await new Promise(resolve => setTimeout(resolve, 5))
      }
      return percentile(taken, 0.99)
    }
    await pages(false)
    const figures = { floor: await small(), unit: 'ms', digits: 2 }
    return [
      limitRow(`p99 of pages of 100 of ${manifests} manifests`, { ...figures, measured: await pages(false) }, 10),
      limitRow('the same, a download counted at every tenth', { ...figures, measured: await pages(true) }, 10),
    ]
  } finally {
    await server.stop()
    rmSync(state, { recursive: true })
  }
}
