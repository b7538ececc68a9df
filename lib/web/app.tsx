import type { JSX } from 'preact'
import { Layout } from './parts/layout.tsx'
import { findPage } from './pages/pages.ts'
import { SignIn } from './pages/sign-in.tsx'
import { UseLink } from './pages/use-link.tsx'
import { route } from './state/route.ts'
import { session } from './state/session.ts'
import { useStore } from './state/store.ts'

/** The whole console: the page that the address names, for who is signed in. */
export const App = (): JSX.Element | null => {
  const user = useStore(session)
  const { parts } = useStore(route)
  if (parts[0] === 'link' && parts[1]) return <UseLink secret={parts[1]} />
  if (user === undefined) return null
  if (user === null) return <SignIn />
  const Page = findPage(parts)
  return (
    <Layout>
      {/* Another thing of the same kind is another page, with a state of its own. */}
      <Page key={parts.slice(0, 2).join('/')} parts={parts.slice(1)} />
    </Layout>
  )
}
