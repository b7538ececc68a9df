import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { textOfField } from '../parts/form-text.ts'
import { Problem } from '../parts/problem.tsx'
import { messageOf } from '../parts/text.ts'
import { useLink } from '../state/session.ts'

/** Sets a password with a link, which signs in. */
export const UseLink = ({ secret }: { readonly secret: string }): JSX.Element => {
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const onSubmit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const password = textOfField(form, 'password')
    if (password !== textOfField(form, 'again')) return setProblem('The two passwords differ. Type the same one twice.')
    setBusy(true)
    setProblem(undefined)
    try {
      await useLink(secret, password)
      // The used link must not stay in the history.
      history.replaceState(undefined, '', '/')
      dispatchEvent(new HashChangeEvent('hashchange'))
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <main class="gate">
      <form onSubmit={onSubmit}>
        <h1>Choose your password</h1>
        <p class="hint">
          At least 12 characters, with lower-case and upper-case letters, a digit and a special character.
        </p>
        <label>
          New password
          <input name="password" type="password" autocomplete="new-password" required autofocus />
        </label>
        <label>
          The same again
          <input name="again" type="password" autocomplete="new-password" required />
        </label>
        <Problem text={problem} />
        <button class="primary" disabled={isBusy}>
          {isBusy ? 'Setting…' : 'Set the password and sign in'}
        </button>
      </form>
    </main>
  )
}
