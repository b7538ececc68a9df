import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { textOfField } from '../parts/form-text.ts'
import { Problem } from '../parts/problem.tsx'
import { messageOf } from '../parts/text.ts'
import { refusal } from '../state/service.ts'
import { signIn } from '../state/session.ts'
import { useStore } from '../state/store.ts'

/** Signs in with a name and a password. */
export const SignIn = (): JSX.Element => {
  const why = useStore(refusal)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    setBusy(true)
    setProblem(undefined)
    try {
      await signIn(textOfField(form, 'name'), textOfField(form, 'password'))
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="gate">
      <form onSubmit={onSubmit}>
        <h1>Sign in to vmhost</h1>
        {!problem && why?.reason && (
          <p class="hint" role="status">
            {why.reason}
          </p>
        )}
        <label>
          User name or e-mail address
          <input name="name" autocomplete="username" autocapitalize="none" required autofocus />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        <Problem text={problem} />
        <button class="primary" disabled={isBusy}>
          {isBusy ? 'Signing in…' : 'Sign in'}
        </button>
        <p class="hint">
          No password? <code>vmhost link</code> on the host makes a link with which root sets one.
        </p>
      </form>
    </main>
  )
}
