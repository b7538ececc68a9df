import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { hypervisorFaults, MachineReference, SetMachine, SetResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/machines/{id}/set',
  summary: 'Change a machine with a list of operations; all are applied, or none',
  description:
    '`cpu` `set`: number of CPUs. `memory` `set`: MB. `machine` `rename`: new name. `description` `set`: text for people. ' +
    '`network` `set`: `isolated`. You can change the name and the description of a running machine; the machine must be stopped for the others. ' +
    'With `dry_run=true` the service changes nothing, and the reply says what would change.',
  access: { claims: ['UPDATE_VM'] },
  effect: 'change',
  acceptsWait: true,
  uses: ['machines'],
  params: MachineReference,
  query: z.object({ dry_run: z.stringbool().default(false) }),
  body: SetMachine,
  audited: ['operations'],
  faults: hypervisorFaults,
  reply: SetResult,
}).handle(({ params, query, body, progress }, { machines }) =>
  machines.set(params.id, body, { dryRun: query.dry_run, progress }),
)
