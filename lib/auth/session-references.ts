import type { SessionReferences } from '#lib/access/session-reference.ts'
import { ServiceError } from '#lib/errors.ts'
import type { ApiKeys } from './api-keys.ts'
import type { Sessions } from './sessions.ts'

interface Options {
  readonly sessions: Pick<Sessions, 'verify' | 'principalOf'>
  readonly apiKeys: Pick<ApiKeys, 'principal' | 'principalOf'>
}

const createMissingError = (): ServiceError => new ServiceError('unauthenticated', 'This session has no credential.')

/** References the sessions of tokens and API keys, for connections that outlive the memory of the program. */
export const createSessionReferences = ({ sessions, apiKeys }: Options): SessionReferences => ({
  async refer({ session, bearer, apiKey, connection }) {
    if (session) return session
    if (bearer !== undefined) {
      const { uid, jti, exp, gen, api_key_id } = await sessions.verify(bearer, connection)
      const from = { ...(gen !== undefined && { gen }), ...(api_key_id !== undefined && { api_key_id }) }
      return { token: { uid, jti, exp, ...from } }
    }
    if (apiKey === undefined) throw createMissingError()
    const { apiKeyId } = await apiKeys.principal(apiKey)
    return apiKeyId === undefined ? {} : { apiKeyId }
  },
  async principal({ token, apiKeyId }) {
    if (token) return sessions.principalOf(token)
    if (apiKeyId === undefined) throw createMissingError()
    return apiKeys.principalOf(apiKeyId)
  },
})
