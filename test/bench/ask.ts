import type { Server } from './processes.ts'

/** Calls a service. Gives the JSON that it answers with; throws for a refusal. */
export type Ask = <T>(method: string, path: string, body?: object) => Promise<T>

/** The headers of somebody who has signed in as root. */
export const signedIn = async ({ port }: Server, password: string): Promise<{ authorization: string }> => {
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/auth/token`, {
    method: 'POST',
    body: JSON.stringify({ email: 'root', password }),
  })
  return { authorization: `Bearer ${((await reply.json()) as { token: string }).token}` }
}

/** Calls a service as root. */
export const askAs = async (server: Server, password: string): Promise<Ask> => {
  const headers = await signedIn(server, password)
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    const url = `http://127.0.0.1:${server.port}/api/v1${path}`
    const reply = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
    return (await reply.json().catch(() => undefined)) as T
  }
}
