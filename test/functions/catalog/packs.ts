import { hash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeSidecar } from '#lib/packs/sidecar.ts'
import type { Answer, Call } from '../../support/harness.ts'

export const at = (...parts: string[]): string => ['/api/v1/catalog', ...parts.map(encodeURIComponent)].join('/')

/** The secret of the local storage of these tests, which no reply may show. */
export const secret = 'storage-secret-0815'

interface RegisterFields {
  readonly catalog_id?: string
  readonly version?: string
  readonly architecture?: string
  readonly [key: string]: unknown
}

/** Registers a manifest without a provider. */
export const register = (call: Call, manifest: RegisterFields = {}, ask: { as?: string[] } = {}): Promise<Answer> =>
  call('POST', '/api/v1/catalog', {
    ...ask,
    body: { catalog_id: 'win11', version: '24.2', architecture: 'arm64', type: 'pvm', ...manifest },
  })

/** Makes the sidecar of a pack, which shows that a push has written the pack. */
export const createSidecar = (name: string, pack: string): string =>
  encodeSidecar({
    format: 1,
    name,
    size: Buffer.byteLength(pack),
    sha256: hash('sha256', pack),
    md5: hash('md5', pack),
    piece_size: 8 * 2 ** 20,
    pieces: [hash('sha256', pack)],
    files: [],
    signatures: [],
  })

/** Writes a pack to local storage as a push does, and registers its manifest. */
export const registerPack = (
  call: Call,
  folder: string,
  manifest: RegisterFields & { pack?: string } = {},
): Promise<Answer> => {
  const {
    pack = 'the bytes of a pack',
    catalog_id = 'win11',
    version = '24.2',
    architecture = 'arm64',
    ...rest
  } = manifest
  const name = `${catalog_id}-${architecture}-${version}`
  const packFolder = join(folder, 'catalog', catalog_id)
  mkdirSync(packFolder, { recursive: true })
  writeFileSync(join(packFolder, `${name}.pdpack`), pack)
  writeFileSync(join(packFolder, `${name}.pdpack.pack.json`), createSidecar(name, pack))
  writeFileSync(
    join(packFolder, `${name}.meta`),
    JSON.stringify({ catalog_id, version, architecture, name, description: 'as it was', compressed_checksum: 'abc' }),
  )
  return register(call, {
    catalog_id,
    version,
    architecture,
    path: `/${catalog_id}`,
    pack_path: `${name}.pdpack`,
    metadata_path: `${name}.meta`,
    pack_size: pack.length,
    pack_sha256: hash('sha256', pack),
    provider: { type: 'local-storage', meta: { access_key: secret } },
    ...rest,
  })
}
