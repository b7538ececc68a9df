import { bodyLimit, CreateUserConfig, UserConfigRecord } from '#lib/user-configs/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/user/configs',
  summary: 'Create one of your settings',
  access: 'signed-in',
  effect: 'change',
  uses: ['userConfigs'],
  body: CreateUserConfig,
  bodyLimit,
  reply: UserConfigRecord,
  status: 201,
}).handle(({ body, caller }, { userConfigs }) => userConfigs.create(caller.id, body))
