import * as z from 'zod'
import { Accepted, accepted } from '#lib/http/accepted.ts'
import { endpoint } from '#lib/http/endpoint.ts'

const Password = z.string('must be a text').min(1, 'must not be empty').max(1024)

export default endpoint({
  method: 'PUT',
  path: '/v1/auth/password',
  summary: 'Change your own password; every token of yours ends',
  access: 'signed-in',
  effect: 'change',
  uses: ['changeOwnPassword'],
  body: z.object({ password: Password, new_password: Password }),
  reply: Accepted,
  status: 202,
}).handle(async ({ body, caller, address }, { changeOwnPassword }) => {
  await changeOwnPassword(body, caller!, address)
  return accepted('The password was changed; sign in again.')
})
