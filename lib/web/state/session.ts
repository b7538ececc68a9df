import { VmhostError } from '#lib/client/client.ts'
import type { Session } from '#lib/client/api.gen.ts'
import { operationAccess } from './access.ts'
import { startLive, stopLive } from './live.ts'
import { client, refusal } from './service.ts'
import { createStore } from './store.ts'

/** Who is signed in: `undefined` until that is known, `null` for nobody. */
export const session = createStore<Session | null | undefined>(undefined)

refusal.subscribe(() => {
  if (!refusal.get()) return
  stopLive()
  session.set(null)
})

/** Whose data the page has. */
let owner: string | undefined

const begin = (next: Session): void => {
  // What the page has of somebody else must not stay in it.
  if (owner !== undefined && owner !== next.user_id) return location.reload()
  owner = next.user_id
  refusal.set(undefined)
  session.set(next)
  startLive()
}

/** Looks whether the browser has a session from before. */
export const loadSession = async (): Promise<void> => {
  try {
    begin(await client.api.auth.showSession())
  } catch (error) {
    refusal.set({ reason: error instanceof VmhostError && error.status === 401 ? '' : String(error) })
    session.set(null)
  }
}

/** Signs in. Throws the refusal of the service. */
export const signIn = async (name: string, password: string): Promise<void> =>
  begin(await client.api.auth.openSession({ body: { name, password } }))

/** Sets a password with a link, and signs in. Throws the refusal of the service. */
export const useLink = async (secret: string, password: string): Promise<void> =>
  begin(await client.api.auth.useLink({ body: { secret, password } }))

export const signOut = async (): Promise<void> => {
  await client.api.auth.signOut()
  refusal.set({ reason: 'You have signed out.' })
}

/** Whether the present user may call an operation, such as `machines.start`, and the service serves it. */
export const may = (operation: string): boolean => {
  const user = session.get()
  const access = operationAccess[operation]
  if (!user || access === undefined) return false
  if (typeof access === 'string') return true
  if (access.roles?.some(role => !user.roles.includes(role))) return false
  if (user.super_user) return true
  const holds = (claim: string): boolean => user.claims.includes(claim)
  return (access.claims ?? []).every(holds) && (access.anyClaim?.some(holds) ?? true)
}
