import type { RemoteManifest } from '#lib/client/api.gen.ts'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../parts/text.ts'
import { lastCall } from '../state/calls.ts'
import type { Rows } from '../state/collection.ts'
import { client } from '../state/service.ts'

/** The manifests of a catalog manager, read when the page is opened and after each change by this page. No event tells of them. */
export const useRemoteManifests = (id: string): Rows<RemoteManifest> => {
  const [manifests, setManifests] = useState<Rows<RemoteManifest>>({ rows: [], isLoaded: false, problem: undefined })
  useEffect(() => {
    let isClosed = false
    const load = async (): Promise<void> => {
      let next: Rows<RemoteManifest>
      try {
        next = {
          rows: await client.api.catalogManagers.catalogList({ params: { id } }),
          isLoaded: true,
          problem: undefined,
        }
      } catch (error) {
        next = { rows: [], isLoaded: true, problem: messageOf(error) }
      }
      if (!isClosed) setManifests(next)
    }
    void load()
    const stop = lastCall.subscribe(() => {
      if (lastCall.get()?.area === 'catalogManagers') void load()
    })
    return () => {
      isClosed = true
      stop()
    }
  }, [id])
  return manifests
}
