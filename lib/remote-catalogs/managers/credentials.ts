import { mask } from '../server.ts'
import { ServiceError } from '#lib/errors.ts'
import { type CatalogManager, type UpdateCatalogManager } from './schemas.ts'

type Credentials = Pick<CatalogManager, 'authentication_method' | 'username' | 'password' | 'api_key'>

const createInvalidError = (message: string): ServiceError => new ServiceError('invalid', message)

/**
 * The credentials of a manager after a request: what is left out, empty or masked is kept, but for an empty user name.
 * Only those of the method that is used stay. Throws `invalid` when they are not complete, or would be sent to another
 * server than the one that they were given for.
 */
export const mergeCredentials = (before: CatalogManager | undefined, request: UpdateCatalogManager): Credentials => {
  const given = (key: 'username' | 'password' | 'api_key'): string | undefined =>
    request[key] === mask || request[key] === '' ? undefined : request[key]
  const username = request.username === '' ? undefined : (given('username') ?? before?.username)
  const password = given('password') ?? before?.password
  const apiKey = given('api_key') ?? before?.api_key
  const { authentication_method: method } = request
  const byKey =
    method === 'api_key' ||
    (method !== 'credentials' &&
      (given('api_key') !== undefined || (given('password') === undefined && apiKey !== undefined)))

  const moves = before && request.url !== undefined && new URL(request.url).origin !== new URL(before.url).origin
  if (moves && given(byKey ? 'api_key' : 'password') === undefined)
    throw createInvalidError('The url is one of another server: send the password or the api_key for it as well.')
  if (byKey) {
    if (apiKey === undefined)
      throw createInvalidError('The api_key is missing, which the authentication_method asks for.')
    return { authentication_method: method || 'api_key', api_key: apiKey }
  }
  if (username === undefined && password === undefined)
    throw createInvalidError('There are no credentials: send an api_key, or a username and a password.')
  if (username === undefined || password === undefined)
    throw createInvalidError('To sign in by password both are needed: the username and the password.')
  return { authentication_method: method || 'credentials', username, password }
}
