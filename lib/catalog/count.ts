import type { Principal } from '#lib/auth/principal.ts'
import type { CatalogContext } from './changes.ts'
import { refuseMarked } from './flags.ts'
import type { Kept } from './shown.ts'

/** Counts a download, which is refused for a manifest that nobody is to use: `invalid` when tainted, `forbidden` when revoked. */
export const countDownload = (
  { manifests, inventory }: Pick<CatalogContext, 'manifests' | 'inventory'>,
  { username }: Principal,
  id: string,
): Promise<Kept> =>
  manifests
    .update(id, manifest => {
      refuseMarked(manifest)
      return {
        ...manifest,
        download_count: manifest.download_count + 1,
        last_downloaded_at: new Date().toISOString(),
        last_downloaded_user: username,
      }
    })
    .finally(() => inventory.refresh(id))
