import type { JSX } from 'preact'
import { ConsolePanel } from '../console/panel.tsx'
import { MachineActions } from '../machine/actions.tsx'
import { MachineFacts } from '../machine/facts.tsx'
import { ForwardsPanel } from '../machine/forwards.tsx'
import { SettingsPanel } from '../machine/settings.tsx'
import { listVerbs, Verbs } from '../machine/verbs.tsx'
import { Missing } from '../parts/missing.tsx'
import { Problem } from '../parts/problem.tsx'
import { SameCall } from '../parts/same-call.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { ScreenPanel } from '../screen/panel.tsx'
import { SnapshotsPanel } from '../snapshots/panel.tsx'
import { machines, type MachineRow } from '../state/machines.ts'
import { linkTo } from '../state/route.ts'
import { isMe, may, mayOn } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import type { PageProps } from './pages.ts'

/** What can be opened beside the facts of a machine, by its part of the address. */
const views = [
  { name: 'console', title: 'Console', operation: 'machines.console', panel: ConsolePanel },
  { name: 'screen', title: 'Screen', operation: 'machines.screen', panel: ScreenPanel },
  { name: 'settings', title: 'Settings', operation: 'machines.set', panel: SettingsPanel },
] as const

const hasView = ({ Hardware }: MachineRow, name: string): boolean =>
  name !== 'screen' || Hardware.video['adapter-type'] !== 'none'

/** One machine: what it is, and what can be done with it. */
export const MachinePage = ({ parts: [reference = '', opened] }: PageProps): JSX.Element => {
  const list = useStore(machines)
  const machine = list.rows.find(({ ID, Name }) => ID === reference || Name === reference)
  if (!machine) return <Missing what="machine" list={list} />
  const { ID: id, Name: name, State: state } = machine
  const isOwn = isMe(machine.owner)
  const offered = views.filter(view => mayOn(view.operation, isOwn) && hasView(machine, view.name))
  const verbs = listVerbs(state)
  const Panel = offered.find(view => view.name === opened)?.panel
  return (
    <section class="page">
      <header>
        <h1>{name}</h1>
        <StateBadge state={state} />
        <nav class="actions" aria-label="Views">
          {offered.map(view => (
            <a
              key={view.name}
              class="button"
              aria-current={view.name === opened ? 'true' : undefined}
              href={linkTo('machines', id, ...(view.name === opened ? [] : [view.name]))}
            >
              {view.name === opened ? `Close the ${view.title.toLowerCase()}` : view.title}
            </a>
          ))}
        </nav>
        <div class="actions">
          <Verbs machine={machine} />
          <MachineActions machine={machine} />
        </div>
      </header>
      <Problem text={machine.problem} />
      {Panel && <Panel key={opened} machine={machine} />}
      <MachineFacts machine={machine} />
      {mayOn('machines.listSnapshots', isOwn) && <SnapshotsPanel id={id} isOwn={isOwn} />}
      {may('machines.listForwards') && <ForwardsPanel id={id} state={state} />}
      {verbs.length > 0 && <SameCall calls={verbs.map(operation => ({ operation, params: { id: name } }))} />}
      <p>
        <a href={linkTo('machines')}>All machines</a>
      </p>
    </section>
  )
}
