import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { CredentialForm } from './credential-form.tsx'
import { type Description, listOperations, type Operation } from './description.ts'
import { Introduction } from './introduction.tsx'
import { OperationView } from './operation-view.tsx'
import type { Credential } from './request.ts'
import { Sidebar } from './sidebar.tsx'

/** Loads the document of this service. Throws an Error that says why there is none. */
const loadDescription = async (): Promise<Description> => {
  const response = await fetch('/api/openapi.json')
  if (response.ok) return (await response.json()) as Description
  if (response.status === 404)
    throw new Error(
      'This service does not serve /api/openapi.json: its routes_include or routes_exclude leaves it out.',
    )
  throw new Error(`/api/openapi.json: the service answered ${response.status}. Load the page again.`)
}

const readHash = (): string => decodeURIComponent(location.hash.slice(1))

/** The id of the operation in the address of the page; empty for the introduction. */
const useHash = (): string => {
  const [hash, setHash] = useState(readHash)
  useEffect(() => {
    const onChange = (): void => {
      setHash(readHash())
      scrollTo(0, 0)
    }
    addEventListener('hashchange', onChange)
    return () => removeEventListener('hashchange', onChange)
  }, [])
  return hash
}

const Frame = ({ children, actions }: { readonly children: ComponentChildren; readonly actions?: VNode }) => (
  <>
    <header class="bar">
      <a class="brand" href="/">
        vmhost
      </a>
      <nav aria-label="Pages">
        <a href="/docs/api" aria-current="page">
          API
        </a>
      </nav>
      {actions}
    </header>
    {children}
  </>
)

interface LoadedProps {
  readonly description: Description
  readonly credential: Credential
}

const Loaded = ({ description, credential }: LoadedProps) => {
  const operations = useMemo(() => listOperations(description), [description])
  const id = useHash()
  const shown: Operation | undefined = operations.find(({ operationId }) => operationId === id)
  useEffect(() => {
    document.title = shown ? `${shown.operationId} · vmhost API` : 'vmhost API'
  }, [shown])
  return (
    <div class="columns">
      <Sidebar operations={operations} shown={id} />
      <main>
        {shown ? (
          <OperationView key={id} operation={shown} description={description} credential={credential} />
        ) : (
          <Introduction description={description} operations={operations} missing={id} />
        )}
      </main>
    </div>
  )
}

/** The reference: a list of all operations, and beside it the one that the address of the page names. */
export const App = () => {
  const [description, setDescription] = useState<Description | Error>()
  const [credential, setCredential] = useState<Credential>({ kind: 'token', secret: '' })
  useEffect(() => void loadDescription().then(setDescription, setDescription), [])
  if (description === undefined || description instanceof Error)
    return (
      <Frame>
        <main class="message">
          <p role="status">{description?.message ?? 'The description of the API is loading …'}</p>
        </main>
      </Frame>
    )
  return (
    <Frame actions={<CredentialForm credential={credential} onChange={setCredential} />}>
      <Loaded description={description} credential={credential} />
    </Frame>
  )
}
