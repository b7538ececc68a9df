import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { ConsolePanel } from '../console/panel.tsx'
import { Action } from '../parts/action.tsx'
import { Facts } from '../parts/facts.tsx'
import { tellFailed } from '../parts/notices.tsx'
import { Problem } from '../parts/problem.tsx'
import { SameCall } from '../parts/same-call.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { formatTime } from '../parts/text.ts'
import { makeCall } from '../state/calls.ts'
import { machines, type MachineRow } from '../state/machines.ts'
import { goTo, linkTo } from '../state/route.ts'
import { may } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { SnapshotsPanel } from '../snapshots/panel.tsx'
import type { PageProps } from './pages.ts'

/** What can be done with a machine in one click, and in which states. */
const verbs = [
  ['start', 'Start', ['stopped', 'paused', 'suspended']],
  ['resume', 'Resume', ['paused', 'suspended']],
  ['stop', 'Shut down', ['running']],
  ['restart', 'Restart', ['running']],
  ['pause', 'Pause', ['running']],
  ['suspend', 'Suspend', ['running', 'paused']],
  ['reset', 'Reset', ['running', 'paused']],
] as const

const Verbs = ({ machine: { ID: id, State: state } }: { readonly machine: MachineRow }): JSX.Element => {
  const [running, setRunning] = useState<string>()
  const run = async (verb: string): Promise<void> => {
    setRunning(verb)
    try {
      await makeCall({ operation: `machines.${verb}`, params: { id } })
    } catch (error) {
      tellFailed(error)
    } finally {
      setRunning(undefined)
    }
  }
  const offered = verbs.filter(([verb]) => may(`machines.${verb}`))
  return (
    <>
      {offered.map(([verb, label, states]) => (
        <button
          type="button"
          key={verb}
          class={verb === 'start' && state === 'stopped' ? 'primary' : ''}
          disabled={!(states as readonly string[]).includes(state) || running !== undefined}
          onClick={() => void run(verb)}
        >
          {running === verb ? `${label}…` : label}
        </button>
      ))}
    </>
  )
}

const listDevices = ({ Hardware }: MachineRow, kind: RegExp): readonly string[] =>
  Object.entries(Hardware)
    .filter(([name, device]) => kind.test(name) && (device as { enabled?: boolean }).enabled)
    .map(([name, device]) => {
      const { size, type, mac, image } = device as Record<string, string | undefined>
      return [name, type, size, mac, image?.split('/').at(-1)].filter(Boolean).join(' · ')
    })

const showLines = (lines: readonly string[]): JSX.Element | undefined =>
  lines.length > 0 ? (
    <>
      {lines.map(line => (
        <div key={line}>{line}</div>
      ))}
    </>
  ) : undefined

/** One machine: what it is, and what can be done with it. */
export const MachinePage = ({ parts: [reference = '', view] }: PageProps): JSX.Element => {
  const { rows, isLoaded, problem } = useStore(machines)
  const machine = rows.find(({ ID, Name }) => ID === reference || Name === reference)
  if (!machine)
    return (
      <section class="page">
        <Problem text={problem} />
        <p class="empty">{isLoaded ? 'This machine does not exist any more.' : 'Loading…'}</p>
      </section>
    )
  const { ID: id, Name: name, State: state } = machine
  const labels = Object.entries(machine.labels ?? {}).map(([key, value]) => (value ? `${key}=${value}` : key))
  return (
    <section class="page">
      <header>
        <h1>{name}</h1>
        <StateBadge state={state} />
        <div class="actions">
          {may('machines.console') && (
            <a class="button" href={linkTo('machines', id, ...(view === 'console' ? [] : ['console']))}>
              {view === 'console' ? 'Close the console' : 'Console'}
            </a>
          )}
          <Verbs machine={machine} />
          <Action
            label="Clone"
            operation="machines.clone"
            fields={[
              { name: 'name', label: 'Name of the clone', value: `${name}-clone`, isRequired: true },
              { name: 'linked', label: 'Linked clone: shares the disks and stores only its changes', kind: 'checkbox' },
            ]}
            toCall={values => ({
              params: { id },
              ...(values['linked'] && { query: { linked: true } }),
              body: { clone_name: values['name'] },
            })}
            onDone={() => 'The clone was made.'}
          />
          <Action
            label="Power off"
            kind="danger"
            operation="machines.stop"
            explanation="The guest is not asked. What it has not written to its disks is lost."
            toCall={() => ({ params: { id }, query: { force: true } })}
          />
          <Action
            label="Delete"
            kind="danger"
            operation="machines.delete"
            explanation={`${name} and its disks are deleted. This cannot be undone.`}
            toCall={() => ({ params: { id }, ...(state !== 'stopped' && { query: { force: true } }) })}
            onDone={() => (goTo('machines'), `${name} was deleted.`)}
          />
        </div>
      </header>
      <Problem text={machine.problem} />
      {view === 'console' && may('machines.console') && <ConsolePanel id={id} name={name} />}
      <Facts
        facts={[
          ['Description', machine.Description],
          ['Address', machine.internal_ip_address],
          ['Processors', machine.Hardware.cpu.cpus],
          ['Memory', machine.Hardware.memory.size.replace('Mb', ' MB')],
          ['Disks', showLines(listDevices(machine, /^hdd/))],
          ['Drives', showLines(listDevices(machine, /^cdrom/))],
          ['Networks', showLines(listDevices(machine, /^net/))],
          ['Labels', labels.join(', ')],
          ['Deleted at', machine.expires_at && formatTime(machine.expires_at)],
          ['Ephemeral', machine.ephemeral && 'is deleted when it has stopped'],
          ['Restart', machine.restart],
          ['Id', <code>{id}</code>],
        ]}
      />
      {may('machines.listSnapshots') && <SnapshotsPanel id={id} />}
      <SameCall call={{ operation: state === 'running' ? 'machines.stop' : 'machines.start', params: { id: name } }} />
      <p>
        <a href={linkTo('machines')}>All machines</a>
      </p>
    </section>
  )
}
