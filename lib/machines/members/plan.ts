import type { Principal } from '#lib/access/principal.ts'
import { formatNames } from '#lib/access/known-members.ts'
import { ServiceError } from '#lib/errors.ts'
import { assertMayEnter } from '../access.ts'
import { assertWithinHost } from '../capacity.ts'
import type { MachineContext } from '../context.ts'
import { measureDiskOfImage } from '../images/leased-image.ts'
import { parseCondition } from '../wait/conditions.ts'
import { findReadableSnapshot } from '../snapshots/find.ts'
import { copyMembers, type MemberSource, type MemberTemplate } from './schemas.ts'

/** What a user asks the machines of a pool to be. */
export interface MemberRequest {
  readonly from: MemberSource
  readonly template: MemberTemplate
  /** The condition that a machine fulfils when it is ready; when left out, it only has to run. */
  readonly until?: string | undefined
}

/** How the machines of a pool are made. */
export interface MemberPlan extends MemberRequest {
  /** The id of the machine that they are copies of. */
  readonly sourceId?: string | undefined
  /** The id of the snapshot of that machine that they are copies of; its present when left out. */
  readonly snapshotId?: string | undefined
}

/**
 * Checks what a user asks the machines of a pool to be, and returns the plan. Throws `invalid`, `not-found` for an image, a machine
 * or a snapshot, `forbidden` for a machine that the user may not enter, because its copies have its content.
 */
export const planMembers = async (
  context: MachineContext,
  caller: Principal,
  request: MemberRequest,
): Promise<MemberPlan> => {
  const { driver, inventory, host, leaseImage } = context
  const { from, template, until } = request
  if (until !== undefined) await parseCondition(until, { parameter: 'until', driver })
  if (from.machine !== undefined) {
    const others = Object.keys(template).filter(name => !copyMembers.has(name))
    if (others.length > 0)
      throw new ServiceError(
        'invalid',
        `template: ${formatNames(others)} cannot be chosen for copies of a machine, which are as their source. Leave it out.`,
      )
    const source = inventory.find(from.machine)
    assertMayEnter(caller, source)
    if (from.snapshot === undefined) return { ...request, sourceId: source.id }
    const { id: snapshotId } = findReadableSnapshot(context, source, from.snapshot, caller)
    return { ...request, sourceId: source.id, snapshotId }
  }
  if (template.memory === undefined)
    throw new ServiceError('invalid', 'template.memory: say how many MB a machine of an image has.')
  const { cpus = 1, memory } = template
  assertWithinHost(host, { cpus, memory })
  using leased = await leaseImage(from.image!)
  measureDiskOfImage(leased.image, template.disk_size, 'from.image')
  return request
}
