import type { App } from '#lib/http/app.ts'
import type { Answer } from '../harness.ts'
import { rootPassword } from '../identity.ts'
import { sendTo } from '../transport.ts'

interface Asked {
  readonly token?: string | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends requests to an application, below `/api/v1`. */
export interface ControlClient {
  ask(method: string, path: string, asked?: Asked): Promise<Answer>
  /** The same as root. */
  asRoot(method: string, path: string, body?: unknown, headers?: Asked['headers']): Promise<Answer>
  /** Makes a user with exactly these claims, and signs in. */
  signInWith(username: string, claims: readonly string[]): Promise<string>
}

export const openClient = async (app: App): Promise<ControlClient> => {
  const send = sendTo(app)
  const ask: ControlClient['ask'] = async (method, path, { token, body, headers } = {}) => {
    const response = await send(`/api/v1${path}`, {
      method,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text), headers: response.headers }
  }
  const signIn = async (username: string): Promise<string> =>
    (await ask('POST', '/auth/token', { body: { username, password: rootPassword } })).body.token
  const root = await signIn('root')
  return {
    ask,
    asRoot: (method, path, body, headers) => ask(method, path, { token: root, body, ...(headers && { headers }) }),
    async signInWith(username, claims) {
      const email = `${username}@example.test`
      await ask('POST', '/auth/users', {
        token: root,
        body: { username, name: username, email, password: rootPassword, roles: [], claims },
      })
      return signIn(username)
    },
  }
}
