import { ServiceError } from '#lib/errors.ts'
import type { Definition } from '../../definition.ts'
import type { Forward } from '../../machine-parts.ts'
import { findForwardCard } from '../../network-modes.ts'
import type { Qmp } from '../qmp.ts'
import { addForward, removeForward } from './monitor.ts'
import { formatHostEnd, formatRule } from './netdev.ts'

/** Returns the card that forwards and tunnels go over. Throws `unsupported` if the machine has none. */
export const requireForwardCard = ({ name, networks }: Pick<Definition, 'name' | 'networks'>): string => {
  const card = findForwardCard(networks)
  if (card !== undefined) return card
  throw new ServiceError(
    'unsupported',
    `${name} has no isolated network card, over which forwards and tunnels go. Add one, then try again.`,
  )
}

/** A change of forwards that is undone when it is disposed of, unless it is kept. */
interface ForwardChange extends AsyncDisposable {
  keep(): void
}

/**
 * Changes the forwards of a running machine to `next`. If a port cannot be opened, the former forwards are there again. Throws
 * `conflict` for such a port.
 */
export const changeForwards = async (
  qmp: Qmp,
  definition: Definition,
  next: readonly Forward[],
): Promise<ForwardChange> => {
  const card = requireForwardCard(definition)
  const { forwards: former = [] } = definition
  const rules = (forwards: readonly Forward[]): ReadonlySet<string> => new Set(forwards.map(formatRule))
  const [nextRules, formerRules] = [rules(next), rules(former)]
  const add = (forward: Forward) => () => addForward(qmp, card, forward)
  const remove = (forward: Forward) => () => removeForward(qmp, card, formatHostEnd(forward))
  const undo: (() => Promise<void>)[] = []
  const change: ForwardChange = {
    keep: () => void undo.splice(0),
    async [Symbol.asyncDispose]() {
      // What cannot be undone is not in the way of the rest. The next start opens the forwards of the definition.
      for (const step of undo.toReversed()) await step().catch(() => {})
    },
  }
  try {
    for (const forward of former.filter(each => !nextRules.has(formatRule(each)))) {
      await remove(forward)()
      undo.push(add(forward))
    }
    for (const forward of next.filter(each => !formerRules.has(formatRule(each)))) {
      await add(forward)()
      undo.push(remove(forward))
    }
    return change
  } catch (error) {
    await change[Symbol.asyncDispose]()
    throw error
  }
}
