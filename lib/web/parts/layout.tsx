import type { ComponentChildren, JSX } from 'preact'
import { listPages } from '../pages/pages.ts'
import { connection } from '../state/live.ts'
import { linkTo, route } from '../state/route.ts'
import { session, signOut } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { Notices, tellError } from './notices.tsx'

const connectionTexts = { connecting: 'Connecting…', live: 'Live', offline: 'Offline, trying again…' } as const

/** The frame around a page: where else to go, who is signed in, and whether the page is up to date. */
export const Layout = ({ children }: { readonly children: ComponentChildren }): JSX.Element => {
  const { parts } = useStore(route)
  const user = useStore(session)
  const state = useStore(connection)
  const pages = listPages()
  const current = parts[0] || pages[0]?.name
  return (
    <div class="layout">
      <a
        class="skip"
        href="#content"
        onClick={event => (event.preventDefault(), document.querySelector('main')?.focus())}
      >
        Skip to the content
      </a>
      <nav aria-label="Pages">
        <a class="brand" href={linkTo()}>
          vmhost
        </a>
        {[...Map.groupBy(pages, ({ group }) => group)].map(([group, inGroup]) => (
          <ul key={group} aria-label={group}>
            {inGroup.map(({ name, title }) => (
              <li key={name}>
                <a href={linkTo(name)} aria-current={name === current ? 'page' : undefined}>
                  {title}
                </a>
              </li>
            ))}
          </ul>
        ))}
        <footer>
          <a href="/docs">Documents</a>
          <a href="/docs/api">API reference</a>
          <span class={`connection ${state}`} role="status">
            {connectionTexts[state]}
          </span>
          <span class="user" title={user?.email}>
            {user?.username}
          </span>
          <button type="button" onClick={() => void signOut().catch(tellError)}>
            Sign out
          </button>
        </footer>
      </nav>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <Notices />
    </div>
  )
}
