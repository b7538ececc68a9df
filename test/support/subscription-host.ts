import * as z from 'zod'
import type { Principal } from '#lib/access/principal.ts'
import type { SessionReferences } from '#lib/access/session-reference.ts'
import type { Every } from '#lib/async/every.ts'
import { toStatus } from '#lib/calls/statuses.ts'
import { Upgrade } from '#lib/calls/upgrade.ts'
import { messageOf, ServiceError } from '#lib/errors.ts'
import { type Events, openEvents } from '#lib/events/events.ts'
import { createHub, type Hub } from '#lib/events/hub.ts'
import type { Subscriptions } from '#lib/events/subscriptions.ts'
import type { Store } from '#lib/storage/store.ts'

type Served = Pick<Subscriptions, 'admit' | 'unsubscribe' | 'clients' | 'stats'>

/** What opens the subscriptions of a program. */
export interface SubscriptionParts {
  readonly events: Events
  readonly hub: Hub
  readonly sessions: SessionReferences
  readonly every: Every
  readonly limits: { readonly user: number; readonly all: number }
}

export interface SubscriptionHost<S extends Served> {
  readonly subscriptions: S
  /** Answers a request of the tests. */
  handle(request: Request): Promise<Response | Upgrade>
}

const User = z.object({ id: z.string(), claims: z.array(z.string()) })
const Publication = z.object({
  message: z.string(),
  type: z.enum(['pdfm', 'auth', 'stats']).default('pdfm'),
  claim: z.string().default('LIST'),
  count: z.int().default(1),
  bytes: z.int().default(0),
})
const Unsubscription = z.object({ id: z.string(), types: z.array(z.string()) })

/**
 * A program that serves nothing but subscriptions, to users whose token is their name and, behind a dot, the second at which
 * it expires. Everything that a test does to it is a request: PUT /users, DELETE /sessions/TOKEN, POST /events and so on.
 */
export const openSubscriptionHost = async <S extends Served>(
  store: Store,
  every: Every,
  openSubscriptions: (parts: SubscriptionParts) => S,
): Promise<SubscriptionHost<S>> => {
  const users = store.collection('users', User)
  const ended = store.collection('ended', z.object({ id: z.string() }))
  const events = await openEvents(store, { every })
  const principalOf = async (jti: string, uid: string, exp: number): Promise<Principal> => {
    if (exp * 1_000 <= Date.now()) throw new ServiceError('unauthenticated', 'The token is expired; sign in again.')
    if (await ended.get(jti)) throw new ServiceError('unauthenticated', 'This token was signed out; sign in again.')
    const { claims = [] } = (await users.get(uid)) ?? {}
    return { id: uid, username: uid, email: '', roles: [], claims: new Set(claims), superUser: uid === 'root' }
  }
  const parse = (bearer = ''): { jti: string; uid: string; exp: number } => {
    const [uid = '', exp = '9999999999'] = bearer.split('.')
    return { jti: bearer, uid, exp: Number(exp) }
  }
  const sessions: SessionReferences = {
    refer: async ({ bearer }) => ({ token: parse(bearer) }),
    principal: async ({ token }) => principalOf(token!.jti, token!.uid, token!.exp),
  }
  const limits = { user: 3, all: 5 }
  const subscriptions = openSubscriptions({ events, hub: createHub(events, every), sessions, every, limits })

  const authenticate = (request: Request) => {
    const bearer = request.headers.get('authorization')?.replace('Bearer ', '')
    const { jti, uid, exp } = parse(bearer)
    return { credential: { bearer, apiKey: undefined }, reauthenticate: () => principalOf(jti, uid, exp) }
  }
  const publish = async ({ message, type, claim, count, bytes }: z.infer<typeof Publication>): Promise<void> => {
    const body = { filler: 'x'.repeat(bytes) }
    const names = Array.from({ length: count }, (_, at) => (count === 1 ? message : `${message}${at}`))
    await store.commit(names.map(name => events.publish({ type, message: name, body, audience: { claims: [claim] } })))
  }
  const actions: Readonly<Record<string, (request: Request, argument: string) => unknown>> = {
    async 'GET subscribe'(request) {
      const { searchParams } = new URL(request.url)
      const { credential, reauthenticate } = authenticate(request)
      const [since, types] = ['since', 'event_types'].map(name => searchParams.get(name) ?? undefined)
      const admitted = {
        since,
        types,
        caller: await reauthenticate(),
        address: '192.0.2.1',
        credential,
        reauthenticate,
      }
      return new Upgrade(await subscriptions.admit(admitted))
    },
    async 'PUT users'(request) {
      const user = User.parse(await request.json())
      await store.commit([users.put({ ...(await users.get(user.id)), ...user })])
    },
    'DELETE sessions': (_, id) => store.commit([ended.put({ id })]),
    'POST events': async request => publish(Publication.parse(await request.json())),
    'GET clients': () => subscriptions.clients(),
    'GET stats': () => subscriptions.stats(),
    async 'POST unsubscribe'(request) {
      const { id, types } = Unsubscription.parse(await request.json())
      subscriptions.unsubscribe(id, types, await authenticate(request).reauthenticate())
    },
  }
  return {
    subscriptions,
    async handle(request) {
      const [, name = '', argument = ''] = new URL(request.url).pathname.split('/')
      try {
        const outcome = await actions[`${request.method} ${name}`]!(request, decodeURIComponent(argument))
        return outcome instanceof Upgrade ? outcome : Response.json(outcome ?? {})
      } catch (error) {
        const status = error instanceof ServiceError ? toStatus(error.fault) : 500
        return Response.json({ code: status, message: messageOf(error) }, { status })
      }
    },
  }
}
