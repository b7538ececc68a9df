import type { Principal } from '#lib/access/principal.ts'
import type { CatalogContext } from './changes.ts'
import { assertUsable } from './flags.ts'
import type { ManifestRow } from './view.ts'

/** The most jobs that a manifest remembers. Few pulls of one manifest run at the same time. */
const maxCountedJobs = 16

/**
 * Counts a download. A job is counted once, however often it asks. Throws `invalid` for a tainted manifest and `forbidden`
 * for a revoked one.
 */
export const countDownload = (
  { manifests, inventory }: Pick<CatalogContext, 'manifests' | 'inventory'>,
  { username }: Principal,
  id: string,
  job?: string,
): Promise<ManifestRow> =>
  manifests
    .update(id, manifest => {
      assertUsable(manifest)
      const { counted_jobs: jobs = [] } = manifest
      if (job !== undefined && jobs.includes(job)) return manifest
      return {
        ...manifest,
        download_count: manifest.download_count + 1,
        last_downloaded_at: new Date().toISOString(),
        last_downloaded_user: username,
        ...(job !== undefined && { counted_jobs: [...jobs, job].slice(-maxCountedJobs) }),
      }
    })
    .finally(() => inventory.refresh(id))
