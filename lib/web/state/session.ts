import { VmhostError } from '#lib/client/client.ts'
import type { Session } from '#lib/client/api.gen.ts'
import { follow, startLive, stopLive } from './live.ts'
import { operationAccess } from './operations.ts'
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
  const isNew = !session.get()
  session.set(next)
  if (isNew) startLive()
}

const refreshSession = async (): Promise<void> => {
  try {
    begin(await client.api.auth.showSession())
  } catch {
    // The service checks every call, so what the page offers may be older than what the user may do.
  }
}

/** Rights that were given or taken meanwhile change what the page offers. */
follow({
  reset: () => {},
  onEvent({ event_type: type, body }) {
    if (type === 'auth' && body?.['user_id'] === owner) void refreshSession()
  },
})

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

/** Whether an id is that of the present user. */
export const isMe = (userId: string | undefined): boolean => userId !== undefined && userId === session.get()?.user_id

/**
 * Whether the present user may call an operation on one thing. Where one of several claims is enough, the first one is for all things
 * and the others are for those that are the user's own.
 */
export const mayOn = (operation: string, isOwn: boolean): boolean => {
  const user = session.get()
  const access = operationAccess[operation]
  if (!user || access === undefined || !may(operation)) return false
  const [general] = typeof access === 'string' ? [] : (access.anyClaim ?? [])
  return isOwn || user.super_user || general === undefined || user.claims.includes(general)
}
