import type { ComponentChildren, JSX } from 'preact'
import { createStore, useStore } from '../state/store.ts'
import { messageOf } from './text.ts'

interface Notice {
  readonly id: number
  readonly kind: 'done' | 'failed'
  readonly content: ComponentChildren
}

const notices = createStore<readonly Notice[]>([])
let count = 0

/** Milliseconds that a success is shown. A failure stays until it is dismissed. */
const shownFor = 6_000
const mostNotices = 4

const remove = (id: number): void => notices.set(notices.get().filter(notice => notice.id !== id))

/** Tells the user that something was done. */
export const tellDone = (content: ComponentChildren): void => {
  const id = ++count
  notices.set([...notices.get(), { id, kind: 'done' as const, content }].slice(-mostNotices))
  setTimeout(() => remove(id), shownFor)
}

/** Tells the user that something failed, and why. */
export const tellFailed = (error: unknown): void =>
  notices.set(
    [...notices.get(), { id: ++count, kind: 'failed' as const, content: messageOf(error) }].slice(-mostNotices),
  )

/** What was told last, in a corner. */
export const Notices = (): JSX.Element => (
  <div class="notices" role="status" aria-live="polite">
    {useStore(notices).map(({ id, kind, content }) => (
      <div key={id} class={`notice ${kind}`}>
        <div>{content}</div>
        <button type="button" class="plain" aria-label="Dismiss" onClick={() => remove(id)}>
          ×
        </button>
      </div>
    ))}
  </div>
)
