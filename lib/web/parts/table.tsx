import type { ComponentChildren, JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** A column of a table. */
export interface Column<T> {
  readonly title: string
  readonly cell: (row: T) => ComponentChildren
  /** `wide`: is left out on narrow screens. `number`: is aligned on the right. */
  readonly kind?: 'wide' | 'number'
}

interface Props<T> {
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
}

/** Pixels of a row, as the style sheet says. */
const rowHeight = 40
/** Rows above and below the visible ones. */
const margin = 10
/** The most rows that are in the page at a time. */
const mostRows = 80

const Spacer = ({ rows, span }: { readonly rows: number; readonly span: number }): JSX.Element | null =>
  rows > 0 ? (
    <tr aria-hidden="true">
      <td colSpan={span} class="spacer" style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  ) : null

/** A table that holds only the rows that can be seen, however many there are. */
export const Table = <T,>({ label, columns, rows, keyOf }: Props<T>): JSX.Element => {
  const frame = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ first: 0, count: 40 })
  const measure = (): void => {
    const element = frame.current
    if (!element) return
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - margin)
    const count = Math.min(mostRows - 2, Math.ceil(element.clientHeight / rowHeight) + 2 * margin)
    if (first !== view.first || count !== view.count) setView({ first, count })
  }
  useLayoutEffect(measure)
  const first = Math.min(view.first, Math.max(0, rows.length - view.count))
  const visible = rows.slice(first, first + view.count)
  return (
    <div class="table" ref={frame} onScroll={measure} tabIndex={0} role="region" aria-label={label}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map(({ title, kind }) => (
              <th scope="col" class={kind} key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={first} span={columns.length} />
          {visible.map((row, at) => (
            <tr key={keyOf(row)} aria-rowindex={first + at + 2}>
              {columns.map(({ title, cell, kind }) => (
                <td class={kind} key={title}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
          <Spacer rows={rows.length - first - visible.length} span={columns.length} />
        </tbody>
      </table>
    </div>
  )
}
