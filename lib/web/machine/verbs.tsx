import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { tellError } from '../parts/notices.tsx'
import { makeCall } from '../state/calls.ts'
import type { MachineRow } from '../state/machines.ts'
import { may } from '../state/session.ts'

/** What can be done with a machine in one click, and in which states. */
const verbs = [
  ['machines.start', 'Start', ['stopped', 'paused', 'suspended']],
  ['machines.resume', 'Resume', ['paused', 'suspended']],
  ['machines.stop', 'Shut down', ['running']],
  ['machines.restart', 'Restart', ['running']],
  ['machines.pause', 'Pause', ['running']],
  ['machines.suspend', 'Suspend', ['running', 'paused']],
  ['machines.reset', 'Reset', ['running', 'paused']],
] as const

/** The operations that are offered now; the first one is the most likely. */
export const listVerbs = (state: string): readonly string[] =>
  verbs
    .filter(([operation, , states]) => (states as readonly string[]).includes(state) && may(operation))
    .map(([operation]) => operation)

/** The buttons of a machine that need no form. */
export const Verbs = ({ machine: { ID: id, State: state } }: { readonly machine: MachineRow }): JSX.Element => {
  const [running, setRunning] = useState<string>()
  const run = async (operation: string): Promise<void> => {
    setRunning(operation)
    try {
      await makeCall({ operation, params: { id } })
    } catch (error) {
      tellError(error)
    } finally {
      setRunning(undefined)
    }
  }
  const offered = verbs.filter(([operation]) => may(operation))
  return (
    <>
      {offered.map(([operation, label, states]) => (
        <button
          type="button"
          key={operation}
          class={operation === 'machines.start' && state === 'stopped' ? 'primary' : ''}
          disabled={!(states as readonly string[]).includes(state) || running !== undefined}
          onClick={() => void run(operation)}
        >
          {running === operation ? `${label}…` : label}
        </button>
      ))}
    </>
  )
}
