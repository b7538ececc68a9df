import type { SnapshotNode } from '#lib/client/api.gen.ts'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../parts/text.ts'
import { lastCall } from '../state/calls.ts'
import { follow } from '../state/live.ts'
import { client } from '../state/service.ts'

interface Snapshots {
  /** The roots of the trees; undefined until they are read. */
  readonly roots: readonly SnapshotNode[] | undefined
  readonly problem: string | undefined
}

/** The snapshots of a machine, which are read again when an event says that they have changed. */
export const useSnapshots = (id: string): Snapshots => {
  const [snapshots, setSnapshots] = useState<Snapshots>({ roots: undefined, problem: undefined })
  useEffect(() => {
    let latest = 0
    const load = async (): Promise<void> => {
      const own = ++latest
      let next: Snapshots
      try {
        const { snapshots: roots } = await client.api.machines.listSnapshots({ params: { id }, query: { group: true } })
        next = { roots, problem: undefined }
      } catch (error) {
        next = { roots: [], problem: messageOf(error) }
      }
      // A later reading may have come first.
      if (own === latest) setSnapshots(next)
    }
    const stop = follow({
      reset: () => void load(),
      onEvent({ message, body }) {
        if (message === 'VM_SNAPSHOTS_UPDATED' && body?.['vm_id'] === id) void load()
      },
    })
    // Who has the rights for own machines alone gets no event of them.
    const stopCalls = lastCall.subscribe(() => {
      if (lastCall.get()?.area === 'machines') void load()
    })
    return () => {
      latest = -1
      stop()
      stopCalls()
    }
  }, [id])
  return snapshots
}
