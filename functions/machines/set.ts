import * as z from 'zod'
import { endpoint } from '#lib/http/endpoint.ts'
import { authorizeActions } from '#lib/machines/settings/actions.ts'
import { hypervisorFaults, MachineReference, SetMachine, SetResult } from '#lib/machines/schemas.ts'

export default endpoint({
  method: 'PUT',
  path: '/v1/machines/{id}/set',
  summary: 'Change a machine with a list of operations; all are applied, or none',
  description:
    '`cpu` `set`: number of CPUs. `memory` `set`: MB. `machine` `rename`: new name. `description` `set`: text for people. ' +
    '`network` `set`: `isolated`, `nat`, `bridge:NAME` or `network:NAME`. `device` `add`, `set`, `remove`, `connect` and `disconnect`: `hdd` (options `size`, `path`), `cdrom` (`path`) and `net`. ' +
    '`boot-order` `boot-order`: device classes, `bios-type`: `legacy` or `efi64`. `shared-folder` `add`, `set` and `delete`: `path`, `mode`. ' +
    '`limits`: the operation is the name of the limit. ' +
    '`labels` `add`, `set` and `remove`: `NAME=VALUE`, separated by commas; `set` replaces all, `remove` takes names. ' +
    '`ttl` `set`: seconds from now; `ttl` `remove`. `ephemeral` `set`: `on` or `off`. `restart` `set`: `never` or `on-crash`. ' +
    '`autostart` `enabled`, `order` and `delay`. These are possible in every state, also of a paused or suspended machine. ' +
    '`cmd` `set` takes the options `autostart` and `autostart-delay`. Settings that only other hypervisors have (`time`, `rosetta`, `efi-secure-boot`) are taken with the value that the record shows. ' +
    '`state` and `machine` `clone` run what the endpoints of that name run, with their rights. ' +
    'A running machine takes what its guest can be given while it runs; it must be stopped for the rest. ' +
    'With `dry_run=true` the service changes nothing, and the reply says what would change, and when.',
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
}).handle(({ params, query, body, progress, caller }, { machines }) => {
  authorizeActions(body, caller)
  return machines.set(params.id, body, { dryRun: query.dry_run, progress })
})
