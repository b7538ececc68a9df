import type { Principal } from '#lib/access/principal.ts'
import type { CatalogContext } from './changes.ts'
import { refuseMarked } from './flags.ts'
import type { Kept } from './view.ts'

/** Jobs that are known again: pulls of one manifest that are under way at once are seldom more. */
const mostJobs = 16

/**
 * Counts a download, once for its job. It is refused for a manifest that nobody is to use: `invalid` when tainted,
 * `forbidden` when revoked.
 */
export const countDownload = (
  { manifests, inventory }: Pick<CatalogContext, 'manifests' | 'inventory'>,
  { username }: Principal,
  id: string,
  job?: string,
): Promise<Kept> =>
  manifests
    .update(id, manifest => {
      refuseMarked(manifest)
      const { counted_jobs: jobs = [] } = manifest
      if (job !== undefined && jobs.includes(job)) return manifest
      return {
        ...manifest,
        download_count: manifest.download_count + 1,
        last_downloaded_at: new Date().toISOString(),
        last_downloaded_user: username,
        ...(job !== undefined && { counted_jobs: [...jobs, job].slice(-mostJobs) }),
      }
    })
    .finally(() => inventory.refresh(id))
