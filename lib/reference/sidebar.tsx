import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { filterOperations, type Operation } from './description.ts'

interface Props {
  readonly operations: readonly Operation[]
  /** The id of the operation that the page shows. */
  readonly shown: string
}

const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof HTMLElement && /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName)

/** The list of all operations by area, with a filter. The key / goes to the filter. */
export const Sidebar = ({ operations, shown }: Props) => {
  const [filter, setFilter] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const found = useMemo(() => filterOperations(operations, filter), [operations, filter])
  const areas = [...Map.groupBy(found, ({ tags: [area] }) => area)]
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping(event)) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
  return (
    <nav class="sidebar" aria-label="Operations">
      <label class="filter">
        <span>Filter</span>
        <input
          ref={input}
          type="search"
          value={filter}
          placeholder="Words of a path or text ( / )"
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      </label>
      <p class="count" role="status">
        {found.length} of {operations.length} operations
      </p>
      {areas.map(([area, own]) => (
        <details key={area} open={filter !== '' || own.some(({ operationId }) => operationId === shown)}>
          <summary>
            {area} <span class="number">{own.length}</span>
          </summary>
          <ul>
            {own.map(({ operationId, method, path, summary }) => (
              <li key={operationId}>
                <a href={`#${operationId}`} title={summary} aria-current={operationId === shown ? 'page' : undefined}>
                  <span class={`method ${method.toLowerCase()}`}>{method}</span>
                  <span class="path">{path.replace(/^\/api(?:\/v1)?/, '')}</span>
                </a>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </nav>
  )
}
