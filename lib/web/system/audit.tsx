import type { AuditEntry } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { textOfField } from '../parts/form-text.ts'
import { Problem } from '../parts/problem.tsx'
import { SameCall } from '../parts/same-call.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { formatTime } from '../parts/text.ts'
import { type AuditFilter, useAudit } from './use-audit.ts'

const describe = ({ target = {}, details = {}, message = '' }: AuditEntry): string =>
  [...Object.values(target), Object.keys(details).length > 0 ? JSON.stringify(details) : '', message]
    .filter(Boolean)
    .join(' · ')

const columns: readonly Column<AuditEntry>[] = [
  { title: 'Number', kind: 'number', cell: ({ seq }) => seq },
  { title: 'Time', cell: ({ at }) => formatTime(at) },
  { title: 'User', cell: ({ username }) => username ?? '' },
  { title: 'Address', kind: 'wide', cell: ({ address }) => address },
  { title: 'Operation', cell: ({ operation }) => operation },
  { title: 'Outcome', cell: ({ outcome }) => <StateBadge state={outcome} /> },
  { title: 'Of', kind: 'wide', cell: entry => <code class="line">{describe(entry)}</code> },
]

/** Who has changed what, and what was refused. */
export const AuditPage = (): JSX.Element => {
  const [filter, setFilter] = useState<AuditFilter>({})
  const { entries, next, problem, loadMore } = useAudit(filter)
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const [user, operation, outcome] = ['user', 'operation', 'outcome'].map(name => textOfField(form, name).trim())
    setFilter({
      ...(user && { user }),
      ...(operation && { operation }),
      // The options of the field.
      ...(outcome && { outcome: outcome as NonNullable<AuditFilter['outcome']> }),
    })
  }
  return (
    <section class="page list">
      <header>
        <h1>Audit</h1>
        <form class="bar" onSubmit={onSubmit}>
          <input name="user" placeholder="User" aria-label="User" />
          <input name="operation" placeholder="Operation, such as users/*" aria-label="Operation" />
          <select name="outcome" aria-label="Outcome">
            <option value="">Any outcome</option>
            <option>done</option>
            <option>refused</option>
            <option>failed</option>
          </select>
          <button>Show</button>
        </form>
        <div class="actions">
          {next !== undefined && (
            <button type="button" onClick={loadMore}>
              Earlier entries
            </button>
          )}
        </div>
      </header>
      <Problem text={problem} />
      {entries?.length === 0 && !problem && <p class="empty">There are no such entries.</p>}
      {entries && entries.length > 0 && (
        <Table label="Audit" columns={columns} rows={entries} keyOf={({ seq }) => String(seq)} />
      )}
      <SameCall calls={[{ operation: 'audit.list', query: { ...filter } }]} />
    </section>
  )
}
