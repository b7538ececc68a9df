import type { Requirement } from '#lib/access/requirement.ts'
import { toServedPath } from '#lib/calls/paths.ts'
import type { Route } from '#lib/http/endpoint.ts'

/** The rights of a caller; undefined for a caller that is not signed in. */
export type Held = { readonly roles: readonly string[]; readonly claims: ReadonlySet<string> } | undefined

export interface Caller {
  readonly name: string
  readonly held: Held
  readonly headers: Record<string, string>
}

/** The expected answer by the contract alone: 401, 403, or admitted. Written independently of the service’s own check. */
const gateOf = (access: Requirement, held: Held, byKey: boolean): 'open' | 401 | 403 => {
  if (access === 'public') return 'open'
  if (!held) return 401
  if (access === 'signed-in') return 'open'
  if (byKey && access.apiKeys === false) return 403
  const superUser = held.roles.includes('SUPER_USER')
  const has = (claim: string): boolean => superUser || held.claims.has(claim)
  const passes =
    (access.roles ?? []).every(role => held.roles.includes(role)) &&
    (access.claims ?? []).every(has) &&
    (access.anyClaim === undefined || access.anyClaim.some(has))
  return passes ? 'open' : 403
}

interface Matrix {
  readonly routes: readonly Route[]
  readonly callers: readonly Caller[]
  /** Sends a request; gives the status of the reply. */
  readonly send: (method: string, path: string, headers: Record<string, string>) => Promise<number>
}

/** Sends a request of every caller to every path of every route. Gives the answers that are not as the contracts say. */
export const playAccessMatrix = async ({
  routes,
  callers,
  send,
}: Matrix): Promise<{ readonly wrong: readonly string[]; readonly cells: number }> => {
  const wrong: string[] = []
  let cells = 0
  for (const { id, endpoint } of routes)
    for (const pair of [`${endpoint.method} ${endpoint.path}`, ...(endpoint.also ?? [])]) {
      const [method = '', path = ''] = pair.split(' ')
      const at = toServedPath(path).replace(/\{\w+\}/g, 'something')
      const answers = callers.map(async ({ name, held, headers }) => {
        const status = await send(method, at, headers)
        const gate = gateOf(endpoint.access, held, 'x-api-key' in headers)
        const seen = status === 401 || status === 403 ? status : 'open'
        if (seen !== gate) wrong.push(`${id} ${pair} by ${name}: ${status}, expected ${gate}`)
      })
      await Promise.all(answers)
      cells += callers.length
    }
  return { wrong, cells }
}
