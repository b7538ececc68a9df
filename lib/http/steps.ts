import { mayCall } from '#lib/auth/access.ts'
import type { Principal } from '#lib/auth/principal.ts'
import { ServiceError } from '#lib/errors.ts'
import { readBody } from './body.ts'
import type { Endpoint } from './endpoint.ts'
import { invalidInput } from './errors.ts'

/** One request on its way to the handler. */
export interface Exchange {
  readonly request: Request
  /** The caller's IP address. */
  readonly address: string
  readonly bearer: string | undefined
  caller: Principal | undefined
  /** Who it turned out to be, where nobody was looked up. */
  identified: Pick<Principal, 'id' | 'username'> | undefined
  /** Looks again who the credential stands for. */
  again: () => Promise<Principal>
  /** From the router as text, then parsed. */
  params: unknown
  query: unknown
  body: unknown
}

/** What a request says of its sender: the value of `Authorization: Bearer`, and of `X-Api-Key`. */
export interface Credential {
  readonly bearer: string | undefined
  readonly apiKey: string | undefined
}

/** Who sends a request, or undefined when it does not say. Throws `unauthenticated` on a bad credential. */
export type Authenticate = (credential: Credential) => Promise<Principal | undefined>

type Step = (exchange: Exchange) => void | Promise<void>

const scheme = 'bearer '

/** The token in the address, as browsers send it; written as the header would be. */
const queryToken = (request: Request): string | null => {
  const query = new URL(request.url).searchParams
  const token = query.get('access_token') ?? query.get('authorization')?.replace(/^bearer /i, '')
  return token ? `Bearer ${token}` : null
}

/** The value of `Authorization: Bearer`. Cut out by hand: a token has some thousand characters, on every request. */
export const bearerOf = (request: Request, inQuery = false): string | undefined => {
  const header = request.headers.get('authorization') ?? (inQuery ? queryToken(request) : null)
  if (header === null || header.slice(0, scheme.length).toLowerCase() !== scheme) return undefined
  return header.slice(scheme.length).trim() || undefined
}

type AllowsOrigin = (origin: string) => boolean

const isForeign = ({ headers }: Request, allows: AllowsOrigin): boolean => {
  const origin = headers.get('origin')
  if (origin === null) return headers.get('sec-fetch-site') === 'cross-site'
  return !URL.canParse(origin) || (new URL(origin).host !== headers.get('host') && !allows(origin))
}

/** A link that a browser follows by itself, or that another site planted, must not act on machines. */
const refuseUnasked =
  (allows: AllowsOrigin): Step =>
  ({ request }) => {
    if (request.method !== 'GET') return
    const purpose = `${request.headers.get('sec-purpose')} ${request.headers.get('purpose')}`
    if (/prefetch|prerender/i.test(purpose))
      throw new ServiceError('forbidden', 'This GET changes something, so it is not served to prefetching.')
    if (isForeign(request, allows))
      throw new ServiceError('forbidden', 'This GET changes something, so it is not served to pages of other sites.')
  }

const admit =
  (access: Endpoint['access'], authenticate: Authenticate): Step =>
  async exchange => {
    const apiKey = exchange.request.headers.get('x-api-key') ?? undefined
    const { bearer } = exchange
    const caller = await authenticate({ bearer, apiKey })
    exchange.again = async () => (await authenticate({ bearer, apiKey }))!
    if (!caller)
      throw new ServiceError('unauthenticated', 'Send a token as Authorization: Bearer, or an API key as X-Api-Key.', {
        headers: { 'WWW-Authenticate': 'Bearer' },
      })
    exchange.caller = caller
    const refusal = mayCall(access, caller)
    if (refusal) throw new ServiceError('forbidden', `This needs ${refusal.missing}, which you do not have.`)
  }

const queryOf = (request: Request): Record<string, string> => Object.fromEntries(new URL(request.url).searchParams)

/**
 * What happens between the router and the handler of an endpoint, in order: each step only where the contract asks
 * for it. Who may call is settled before anything of the request is parsed.
 */
export const stepsOf = (endpoint: Endpoint, authenticate: Authenticate, allows: AllowsOrigin): readonly Step[] => {
  const { access, effect, params, query, body, bodyLimit } = endpoint
  const parse = (part: 'params' | 'query' | 'body', schema: NonNullable<Endpoint['body']>, value: unknown) => {
    const parsed = schema.safeParse(value)
    if (!parsed.success && value === undefined && parsed.error.issues.every(issue => issue.path.length === 0))
      throw new ServiceError('invalid', 'The request body is empty; send a JSON object.')
    if (!parsed.success) throw invalidInput(part === 'params' ? 'path' : part, parsed.error.issues)
    return parsed.data
  }
  const steps: Step[] = []
  if (effect === 'change') steps.push(refuseUnasked(allows))
  if (access !== 'public') steps.push(admit(access, authenticate))
  if (params) steps.push(exchange => void (exchange.params = parse('params', params, exchange.params)))
  if (query) steps.push(exchange => void (exchange.query = parse('query', query, queryOf(exchange.request))))
  if (body) {
    steps.push(async exchange => {
      exchange.body = parse('body', body, await readBody(exchange.request, bodyLimit))
    })
    // A body takes as long as its sender likes, and the rights of before may be gone when it has come.
    if (access !== 'public') steps.push(admit(access, authenticate))
  }
  return steps
}
