import type { JSX } from 'preact'
import { textOfField } from '../parts/form-text.ts'
import { ListPage } from '../parts/list-page.tsx'
import { tellError } from '../parts/notices.tsx'
import type { Column } from '../parts/table.tsx'
import { formatTime } from '../parts/text.ts'
import type { LiveEvent } from '../state/live.ts'
import { readLog, recentEvents } from '../state/recent-events.ts'

const mostDetails = 300

const describeBody = ({ body }: LiveEvent): string => JSON.stringify(body ?? {}).slice(0, mostDetails)

const columns: readonly Column<LiveEvent>[] = [
  { title: 'Time', cell: ({ timestamp }) => formatTime(timestamp) },
  { title: 'Type', cell: ({ event_type }) => event_type },
  { title: 'Event', cell: ({ message }) => message },
  { title: 'Details', kind: 'wide', cell: event => <code class="line">{describeBody(event)}</code> },
]

const onSubmit = (event: SubmitEvent): void => {
  event.preventDefault()
  const cursor = textOfField(event.currentTarget as HTMLFormElement, 'cursor').trim()
  readLog(cursor).catch(tellError)
}

/** What happens, as it happens, and what the log has of before. */
export const EventsPage = (): JSX.Element => (
  <ListPage
    title="Events"
    collection={recentEvents}
    columns={columns}
    keyOf={({ id }) => id}
    textOf={event => `${event.event_type} ${event.message} ${describeBody(event)}`}
    empty="Nothing has happened since this page was opened. Events appear here at once."
  >
    <form class="bar" onSubmit={onSubmit}>
      <input name="cursor" placeholder="Cursor; empty: the beginning" aria-label="Cursor" />
      <button>Read the log</button>
    </form>
  </ListPage>
)
