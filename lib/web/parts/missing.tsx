import type { JSX } from 'preact'
import type { Rows } from '../state/collection.ts'
import { Problem } from './problem.tsx'

interface Props {
  /** What the page would show: `image`, `user`. */
  readonly what: string
  readonly list: Rows<unknown>
}

/** The page of a thing that its list does not have, or not yet. */
export const Missing = ({ what, list: { isLoaded, problem } }: Props): JSX.Element => (
  <section class="page">
    <Problem text={problem} />
    <p class="empty">{isLoaded ? `This ${what} does not exist any more.` : 'Loading…'}</p>
  </section>
)
