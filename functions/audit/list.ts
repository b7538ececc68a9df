import { AuditPage, AuditQuery } from '#lib/audit/schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'GET',
  path: '/v1/audit',
  summary: 'List audit entries: what was done or refused, by whom and from where; newest first',
  access: { roles: ['SUPER_USER'] },
  effect: 'read',
  uses: ['audit'],
  query: AuditQuery,
  reply: AuditPage,
}).handle(({ query }, { audit }) => audit.readPage(query))
