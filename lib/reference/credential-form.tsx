import { useState } from 'preact/hooks'
import type { Credential } from './request.ts'

interface Props {
  readonly credential: Credential
  readonly onChange: (credential: Credential) => void
}

const none: Credential = { kind: 'token', secret: '' }

/** An API key as the header has it: base64 of KEY:SECRET. A text without a colon is that already. */
const encodeKey = (text: string): string =>
  text.includes(':') ? btoa(String.fromCharCode(...new TextEncoder().encode(text))) : text

/** Signs in with a name and a password, and gives the token. Throws an Error with the refusal of the service. */
const signIn = async (email: string, password: string): Promise<string> => {
  const response = await fetch('/api/v1/auth/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  const { token, message } = (await response.json()) as { token?: string; message?: string }
  if (token === undefined) throw new Error(message ?? `The service answered ${response.status}.`)
  return token
}

const readField = (form: HTMLFormElement, name: string): string => {
  const value = new FormData(form).get(name)
  return typeof value === 'string' ? value : ''
}

/** Lets a reader sign in, or paste a token or an API key. The page keeps it in memory alone: it is gone after a reload. */
export const CredentialForm = ({ credential, onChange }: Props) => {
  const [problem, setProblem] = useState<string>()
  const accept = (given: Credential): void => {
    setProblem(undefined)
    onChange(given)
  }
  const onSignIn = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const form = event.currentTarget
    signIn(readField(form, 'name').trim(), readField(form, 'password')).then(
      secret => accept({ kind: 'token', secret }),
      (error: Error) => setProblem(error.message),
    )
  }
  const onPaste = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault()
    const text = readField(event.currentTarget, 'secret').trim()
    // A token is a JWT: three parts with dots.
    accept(text.split('.').length === 3 ? { kind: 'token', secret: text } : { kind: 'key', secret: encodeKey(text) })
  }
  const name = credential.kind === 'token' ? 'token' : 'API key'
  if (credential.secret !== '')
    return (
      <p class="signed-in">
        Requests carry your {name}.{' '}
        <button type="button" onClick={() => accept(none)}>
          Forget the {name}
        </button>
      </p>
    )
  return (
    <details class="sign-in">
      <summary>Sign in</summary>
      <div>
        <form onSubmit={onSignIn}>
          <label class="field">
            <span>Name or e-mail</span>
            <input name="name" required autocomplete="username" />
          </label>
          <label class="field">
            <span>Password</span>
            <input name="password" type="password" required autocomplete="current-password" />
          </label>
          <button type="submit" class="primary">
            Sign in
          </button>
        </form>
        <form onSubmit={onPaste}>
          <label class="field">
            <span>Or a token, or an API key as KEY:SECRET</span>
            <input name="secret" type="password" required autocomplete="off" />
          </label>
          <button type="submit">Use it</button>
        </form>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <p class="hint">This page keeps it in memory alone.</p>
      </div>
    </details>
  )
}
