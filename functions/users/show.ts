import { UserRecord, UserReference } from '#lib/auth/user-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/auth/users/{id}',
  summary: 'Show one user',
  access: { claims: ['LIST_USER'] },
  effect: 'read',
  uses: ['users'],
  params: UserReference,
  reply: UserRecord,
}).handle(({ params }, { users }) => users.show(params.id))
