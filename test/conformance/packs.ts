import { hash } from 'node:crypto'
import { encodeSidecar } from '#lib/packs/sidecar.ts'

type Objects = Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>

/** The bytes of a pack, as far as anybody looks who does not unpack it: they begin as gzip does. */
export const packBytes = Uint8Array.from([0x1f, 0x8b, ...new TextEncoder().encode('0123456789abcdef')])

/** The objects of a pushed pack: the pack, its sidecar and its description. */
export const packObjects = (catalogId: string, version: string): Objects => {
  const name = `${catalogId}-x86_64-${version}`
  const pack = `${catalogId}/${name}.pdpack`
  const sha256 = hash('sha256', packBytes)
  return {
    [pack]: packBytes,
    [`${pack}.pack.json`]: encodeSidecar({
      format: 1,
      name: `${name}.pdpack`,
      size: packBytes.length,
      sha256,
      md5: hash('md5', packBytes),
      piece_size: 8 * 2 ** 20,
      pieces: [sha256],
      files: [],
      signatures: [],
    }),
    [`${catalogId}/${name}.meta`]: JSON.stringify({
      catalog_id: catalogId,
      version,
      architecture: 'x86_64',
      name,
      description: 'As the provider describes it',
      type: 'pvm',
      path: `/${catalogId}`,
      pack_path: `${name}.pdpack`,
      metadata_path: `${name}.meta`,
      pack_size: packBytes.length,
      pack_sha256: sha256,
    }),
  }
}

/** A bundle that no service has described. */
export const bundleObjects: Objects = { 'bundles/mac.macvm/config.pvs': 'config' }
