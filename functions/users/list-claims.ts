import * as z from 'zod'
import { UserReference } from '#lib/auth/user-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/users/{id}/claims',
  summary: 'List the claims that a user holds directly',
  access: { claims: ['LIST_USER'] },
  effect: 'read',
  uses: ['users'],
  params: UserReference,
  reply: z.array(z.object({ id: z.string(), name: z.string() })),
}).handle(async ({ params }, { users }) => (await users.show(params.id)).claims.map(name => ({ id: name, name })))
