import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Rows } from '../state/collection.ts'
import { type Store, useStore } from '../state/store.ts'
import { Problem } from './problem.tsx'
import { type Column, Table } from './table.tsx'

interface Props<T> {
  readonly title: string
  readonly collection: Store<Rows<T>>
  readonly columns: readonly Column<T>[]
  readonly keyOf: (row: T) => string
  /** The text of a row that the filter searches. */
  readonly textOf: (row: T) => string
  /** What the page says when there is nothing: what it would be, and how to get one. */
  readonly empty: ComponentChildren
  /** Buttons beside the title. */
  readonly children?: ComponentChildren
}

/** Whether a text has all words of a filter, in any case. */
const matches = (text: string, filter: string): boolean => {
  const lower = text.toLowerCase()
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every(word => lower.includes(word))
}

const isTyping = ({ target }: Event): boolean =>
  target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)

/** The page of a list: its title, a filter, and a table that is always up to date. */
export const ListPage = <T,>(props: Props<T>): JSX.Element => {
  const { title, collection, columns, keyOf, textOf, empty, children } = props
  const { rows, isLoaded, problem } = useStore(collection)
  const [filter, setFilter] = useState('')
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || isTyping(event) || document.querySelector('dialog[open]')) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  const shown = filter.trim() === '' ? rows : rows.filter(row => matches(textOf(row), filter.trim()))
  return (
    <section class="page list">
      <header>
        <h1>{title}</h1>
        <input
          ref={input}
          type="search"
          placeholder="Filter  /"
          aria-label={`Filter ${title.toLowerCase()}`}
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
        <output class="count">
          {shown.length === rows.length ? rows.length : `${shown.length} of ${rows.length}`}
        </output>
        <div class="actions">{children}</div>
      </header>
      <Problem text={problem} />
      {!isLoaded && <p class="empty">Loading…</p>}
      {isLoaded && !problem && rows.length === 0 && <div class="empty">{empty}</div>}
      {rows.length > 0 && shown.length === 0 && <p class="empty">Nothing matches “{filter}”.</p>}
      {shown.length > 0 && <Table label={title} columns={columns} rows={shown} keyOf={keyOf} />}
    </section>
  )
}
