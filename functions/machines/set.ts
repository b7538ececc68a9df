import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { MachineReference, SetMachine, SetResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/machines/{id}/set',
  summary: 'Change a machine by a list of operations, all or none',
  access: { claims: ['UPDATE_VM'] },
  effect: 'change',
  uses: ['machines'],
  params: MachineReference,
  query: z.object({ dry_run: z.stringbool().default(false) }),
  body: SetMachine,
  audited: ['operations'],
  reply: SetResult,
}).handle(({ params, query, body }, { machines }) => machines.set(params.id, body, { dryRun: query.dry_run }))
