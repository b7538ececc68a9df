import { CreateUser, UserRecord } from '#lib/auth/user-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/users',
  summary: 'Create a user',
  access: { claims: ['CREATE_USER'] },
  effect: 'change',
  uses: ['users'],
  body: CreateUser,
  audited: ['username', 'email', 'roles', 'claims', 'is_super_user'],
  faults: ['not-found'],
  reply: UserRecord,
  status: 201,
}).handle(({ body, caller }, { users }) => users.add(body, caller))
