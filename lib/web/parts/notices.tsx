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

/** Tells the user that something was done. A kept notice stays until it is dismissed. */
export const tellDone = (content: ComponentChildren, isKept = false): void => {
  const id = ++count
  notices.set([...notices.get(), { id, kind: 'done' as const, content }].slice(-mostNotices))
  if (!isKept) setTimeout(() => remove(id), shownFor)
}

/** Tells the user that something failed: an error, or what the page says about it. */
export const tellFailed = (content: ComponentChildren): void =>
  notices.set([...notices.get(), { id: ++count, kind: 'failed' as const, content }].slice(-mostNotices))

/** Tells the user why something failed. */
export const tellError = (error: unknown): void => tellFailed(messageOf(error))

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
