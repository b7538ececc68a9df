import { getCardName } from '../../parts.ts'
import type { MachineState } from '../machine-state.ts'
import type { Qmp } from '../qmp.ts'

/**
 * Has the guest of a fork run, which QEMU has loaded. Its cards are disconnected, because they still have the MAC addresses of the
 * source. `persisted` resolves when the state of the fork is on disk.
 */
export const continueFork = async (
  { view, setView, changeState }: MachineState,
  qmp: Qmp,
): Promise<{ readonly persisted: Promise<void> }> => {
  const cards = view().definition.networks.map(getCardName)
  // QEMU runs commands in the order in which they come.
  const disconnecting = cards.map(name => qmp.execute('set_link', { name, up: false }))
  await Promise.all([...disconnecting, qmp.execute('cont')])
  const persisted = changeState('running', { booted: true })
  if (cards.length > 0) setView({ ...view(), disconnectedCards: cards })
  return { persisted }
}
