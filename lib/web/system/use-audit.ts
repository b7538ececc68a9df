import type { AuditEntry } from '#lib/client/api.gen.ts'
import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../parts/text.ts'
import { client } from '../state/service.ts'

export interface AuditFilter {
  readonly user?: string
  readonly operation?: string
  readonly outcome?: 'done' | 'refused' | 'failed'
}

interface State {
  /** Newest first; undefined until they are read. */
  readonly entries: readonly AuditEntry[] | undefined
  /** Where earlier entries are. */
  readonly next: number | undefined
  readonly problem: string | undefined
}

const pageSize = 200

/** The entries of the audit that match, newest first, and what reads earlier ones. */
export const useAudit = (filter: AuditFilter): State & { readonly loadMore: () => void } => {
  const [state, setState] = useState<State>({ entries: undefined, next: undefined, problem: undefined })
  const load = async (shown: readonly AuditEntry[], before: number | undefined, isWanted: () => boolean) => {
    try {
      const page = await client.api.audit.list({ query: { ...filter, limit: pageSize, before } })
      if (isWanted()) setState({ entries: [...shown, ...page.entries], next: page.next, problem: undefined })
    } catch (error) {
      if (isWanted()) setState({ entries: shown, next: before, problem: messageOf(error) })
    }
  }
  useEffect(() => {
    let isWanted = true
    void load([], undefined, () => isWanted)
    return () => void (isWanted = false)
  }, [filter])
  return { ...state, loadMore: () => void load(state.entries ?? [], state.next, () => true) }
}
