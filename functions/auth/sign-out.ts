import { ServiceError } from '#lib/errors.ts'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/token',
  summary: 'Sign out: end the token that this request carries',
  access: 'signed-in',
  effect: 'change',
  uses: ['sessions'],
  reply: Accepted,
  status: 202,
}).handle(async ({ bearer }, { sessions }) => {
  if (!bearer) throw new ServiceError('invalid', 'This request carries no token that could be ended.')
  await sessions.end(bearer)
  return accepted('The token is not valid any more.')
})
