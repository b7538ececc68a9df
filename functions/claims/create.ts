import { ClaimRecord, CreateClaim } from '#lib/auth/role-schemas.ts'
import { endpoint } from '#lib/http/endpoint.ts'

export default endpoint({
  method: 'POST',
  path: '/v1/auth/claims',
  summary: 'Create a claim, which catalog manifests can require',
  access: { claims: ['CREATE_CLAIM'] },
  effect: 'change',
  uses: ['claims'],
  body: CreateClaim,
  audited: ['name'],
  reply: ClaimRecord,
  status: 201,
}).handle(({ body }, { claims }) => claims.add(body))
