import * as z from 'zod'
import { UserConfigRecord } from '#lib/user-configs/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/user/configs',
  summary: 'List your settings',
  access: 'signed-in',
  effect: 'read',
  uses: ['userConfigs'],
  filter: true,
  reply: z.array(UserConfigRecord),
}).handle(async ({ caller }, { userConfigs }) => [...(await userConfigs.list(caller.id))])
