import type { JSX } from 'preact'

/** What an address shows that leads nowhere. */
export const NotFound = (): JSX.Element => (
  <section class="page">
    <h1>There is no such page</h1>
    <p>It does not exist, or you do not have the rights that it needs. Choose a page on the left.</p>
  </section>
)
