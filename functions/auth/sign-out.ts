import { ServiceError } from '#lib/errors.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/auth/token',
  summary: 'Sign out: end the token of this request',
  access: 'signed-in',
  effect: 'change',
  essential: true,
  uses: ['sessions'],
  reply: DeletionReply,
  status: 202,
}).handle(async ({ bearer, isFromConsole, keepSession }, { sessions }) => {
  if (!bearer) throw new ServiceError('invalid', 'This request carries no token that could be ended.')
  await sessions.end(bearer)
  if (isFromConsole) keepSession(undefined)
  return confirmDeletion('The token is not valid any more.')
})
