import { CreateHost, RegisteredHost } from '#lib/hosts/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/hosts',
  summary: 'Register a host',
  description:
    'The reply has the key that the host needs as its setting `control_key`, and the id that its setting `trusted_issuers` needs as the audience.',
  access: { roles: ['SUPER_USER'], claims: ['CREATE_HOST'] },
  effect: 'change',
  uses: ['hosts'],
  body: CreateHost,
  audited: ['name', 'url', 'labels'],
  secretReply: true,
  reply: RegisteredHost,
  status: 201,
}).handle(({ body }, { hosts }) => hosts.register(body))
