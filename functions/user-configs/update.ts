import { bodyLimit, UpdateUserConfig, UserConfigRecord, UserConfigReference } from '#lib/user-configs/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/user/configs/{id}',
  summary: 'Change one of your settings',
  access: 'signed-in',
  effect: 'change',
  uses: ['userConfigs'],
  params: UserConfigReference,
  body: UpdateUserConfig,
  bodyLimit,
  reply: UserConfigRecord,
}).handle(({ params, body, caller }, { userConfigs }) => userConfigs.update(caller.id, params.id, body))
