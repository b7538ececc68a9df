import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { session } from '../state/session.ts'
import { useStore } from '../state/store.ts'

/** A column of a table. */
export interface Column<T> {
  readonly title: string
  readonly cell: (row: T) => ComponentChildren
  /** `wide`: is left out on narrow screens. `number`: is aligned on the right. */
  readonly kind?: 'wide' | 'number' | 'wide number'
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
const margin = 6
/** The rows in the page change after so many rows that were scrolled, so that a short way changes none. */
const stride = 4
/** The most rows that are in the page at a time. */
const mostRows = 80

interface RowProps<T> {
  readonly row: T
  /** Its place among all rows. */
  readonly index: number
  readonly columns: readonly Column<T>[]
  /** Who looks at it: what cells offer depends on the rights of the user. */
  readonly viewer: unknown
}

/** A row. The browser has to do nothing for one that was there before: the same element is not compared again. */
const Row = <T,>({ row, index, columns, viewer }: RowProps<T>): JSX.Element =>
  useMemo(
    () => (
      <tr aria-rowindex={index + 2}>
        {columns.map(({ title, cell, kind }) => (
          <td class={kind} key={title}>
            {cell(row)}
          </td>
        ))}
      </tr>
    ),
    [row, index, columns, viewer],
  )

const Spacer = ({ rows, span }: { readonly rows: number; readonly span: number }): JSX.Element | null =>
  rows > 0 ? (
    <tr aria-hidden="true">
      <td colSpan={span} class="spacer" style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  ) : null

/** A table that holds only the rows that can be seen, however many there are. */
export const Table = <T,>({ label, columns, rows, keyOf }: Props<T>): JSX.Element => {
  const viewer = useStore(session)
  const frame = useRef<HTMLDivElement>(null)
  const [scrolled, setFirst] = useState(0)
  const [count, setCount] = useState(30)
  const onScroll = (): void => {
    const passed = Math.floor(frame.current!.scrollTop / (rowHeight * stride)) * stride
    setFirst(Math.max(0, passed - margin))
  }
  useEffect(() => {
    // The height is told, and not asked for: that would have the browser lay out the page once more after each change.
    const observer = new ResizeObserver(([entry]) => {
      const visible = Math.ceil(entry!.contentRect.height / rowHeight)
      setCount(Math.min(mostRows - 2, visible + 2 * margin + stride))
    })
    observer.observe(frame.current!)
    return () => observer.disconnect()
  }, [])
  const first = Math.min(scrolled, Math.max(0, rows.length - count))
  const visible = rows.slice(first, first + count)
  return (
    <div class="table" ref={frame} onScroll={onScroll} tabIndex={0} role="region" aria-label={label}>
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
            <Row key={keyOf(row)} row={row} index={first + at} columns={columns} viewer={viewer} />
          ))}
          <Spacer rows={rows.length - first - visible.length} span={columns.length} />
        </tbody>
      </table>
    </div>
  )
}
