import { mask } from '../server.ts'
import { ServiceError } from '#lib/errors.ts'
import { type CatalogManager, type UpdateCatalogManager } from './schemas.ts'

type Credentials = Pick<CatalogManager, 'authentication_method' | 'username' | 'password' | 'api_key'>

const createInvalidError = (message: string): ServiceError => new ServiceError('invalid', message)

/**
 * Gives the credentials of a manager as a request makes them. Members that are left out, empty or masked keep their stored
 * values; only an empty user name removes the stored one. The result has only the credentials of the method that is used.
 * Throws `invalid` when they are incomplete, or when stored ones would be sent to another server.
 */
export const mergeCredentials = (before: CatalogManager | undefined, request: UpdateCatalogManager): Credentials => {
  const readGiven = (key: 'username' | 'password' | 'api_key'): string | undefined =>
    request[key] === mask || request[key] === '' ? undefined : request[key]
  const username = request.username === '' ? undefined : (readGiven('username') ?? before?.username)
  const password = readGiven('password') ?? before?.password
  const apiKey = readGiven('api_key') ?? before?.api_key
  const { authentication_method: method } = request
  const usesApiKey =
    method === 'api_key' ||
    (method !== 'credentials' &&
      (readGiven('api_key') !== undefined || (readGiven('password') === undefined && apiKey !== undefined)))

  const isNewServer = before && request.url !== undefined && new URL(request.url).origin !== new URL(before.url).origin
  if (isNewServer && readGiven(usesApiKey ? 'api_key' : 'password') === undefined)
    throw createInvalidError('The url names another server: send its password or api_key too.')
  if (usesApiKey) {
    if (apiKey === undefined) throw createInvalidError('The api_key is missing; the authentication_method requires it.')
    return { authentication_method: method || 'api_key', api_key: apiKey }
  }
  if (username === undefined && password === undefined)
    throw createInvalidError('There are no credentials: send an api_key, or a username and a password.')
  if (username === undefined || password === undefined)
    throw createInvalidError('To sign in with a password, both are needed: the username and the password.')
  return { authentication_method: method || 'credentials', username, password }
}
