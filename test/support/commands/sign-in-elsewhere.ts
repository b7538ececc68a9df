import { expect } from 'vitest'
import { newState, runProgram } from '../service.ts'

type Credentials = { readonly apiKey: string } | { readonly password: string }

/**
 * Signs in to a service by `vmhost login`, as on another computer: with a home of its own, and no state folder. Its certificate is
 * trusted because of its fingerprint. Commands with the returned environment use that service. Disposing deletes the home.
 */
export const signInElsewhere = async (url: string, credentials: Credentials) => {
  const home = newState()
  // An empty variable counts as unset.
  const env = { VMHOST_STATE: '', HOME: home.path }
  const isKey = 'apiKey' in credentials
  const login = ['login', url, ...(isKey ? ['--api-key'] : ['--user', 'root'])]
  const secret = `${isKey ? credentials.apiKey : credentials.password}\n`
  const unknown = await runProgram(login, env, home.path, secret)
  const [, fingerprint] = /--fingerprint (\S+)/.exec(unknown.stderr) ?? []
  if (fingerprint !== undefined) {
    const signedIn = await runProgram([...login, '--fingerprint', fingerprint], env, home.path, secret)
    expect(signedIn).toMatchObject({ code: 0, stderr: '' })
  } else expect(unknown).toMatchObject({ code: 0, stderr: '' })
  return { ...home, env, [Symbol.dispose]: () => home[Symbol.dispose]() }
}
