import { UserConfigRecord, UserConfigReference } from '#lib/user-configs/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/user/configs/{id}',
  summary: 'Show one of your settings',
  access: 'signed-in',
  effect: 'read',
  uses: ['userConfigs'],
  params: UserConfigReference,
  reply: UserConfigRecord,
}).handle(({ params, caller }, { userConfigs }) => userConfigs.show(caller.id, params.id))
