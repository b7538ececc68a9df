import type { Compression } from '#lib/packs/tar/write.ts'
import type { PushManifest } from './schemas.ts'

/** Between speed and size, as the field has it. */
const usualLevel = 5

/** How a push compresses its pack: not at all unless it asks for that. Where both levels are given the newer name wins. */
export const compressionOf = (request: PushManifest): Compression => {
  if (!(request.compress_pack ?? request.compress ?? false)) return { kind: 'none' }
  const level = request.compress_level ?? request.compress_pack_level ?? usualLevel
  return { kind: request.compress_format ?? 'gzip', level }
}
