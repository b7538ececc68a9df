import * as z from 'zod'
import { UserRecord } from '#lib/auth/user-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/users',
  summary: 'List the users',
  access: { claims: ['LIST_USER'] },
  effect: 'read',
  uses: ['users'],
  filter: true,
  reply: z.array(UserRecord),
}).handle(async (_, { users }) => [...(await users.list())])
