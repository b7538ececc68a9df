import { UserConfigReference } from '#lib/user-configs/schemas.ts'
import { DeletionReply, confirmDeletion } from '#lib/calls/deletion-reply.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'DELETE',
  path: '/v1/user/configs/{id}',
  summary: 'Delete one of your settings',
  access: 'signed-in',
  effect: 'change',
  uses: ['userConfigs'],
  params: UserConfigReference,
  reply: DeletionReply,
  status: 202,
}).handle(async ({ params, caller }, { userConfigs }) => {
  await userConfigs.remove(caller.id, params.id)
  return confirmDeletion(`The setting ${params.id} was deleted.`)
})
