import * as z from 'zod'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

const Password = z.string().min(1).max(1024)

export default endpoint({
  method: 'PUT',
  path: '/v1/auth/password',
  summary: 'Change your own password; this ends all of your tokens',
  access: 'signed-in',
  effect: 'change',
  essential: true,
  uses: ['changeOwnPassword'],
  body: z.object({ password: Password, new_password: Password }),
  faults: ['forbidden', 'locked-out'],
  reply: DeletionReply,
  status: 202,
}).handle(async ({ body, caller, address }, { changeOwnPassword }) => {
  await changeOwnPassword(body, caller, address)
  return confirmDeletion('The password was changed; sign in again.')
})
