import type { MachineCloudInitStatus, MachineExecuteResult } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { PushMachine } from '../catalog/push-machine.tsx'
import { Action } from '../parts/action.tsx'
import { Output } from '../parts/output.tsx'
import type { MachineRow } from '../state/machines.ts'
import { goTo } from '../state/route.ts'
import { isMe } from '../state/session.ts'
import { Fork } from './fork.tsx'

interface Props {
  readonly machine: MachineRow
}

const Clone = ({ machine: { ID: id, Name: name } }: Props): JSX.Element => (
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
)

const Run = ({ machine: { ID: id, owner } }: Props): JSX.Element => (
  <Action
    label="Run a command"
    operation="machines.execute"
    isOwn={isMe(owner)}
    explanation="The guest agent runs it in the shell of the guest."
    fields={[
      { name: 'command', label: 'Command', isRequired: true },
      { name: 'user', label: 'User of the guest', help: 'root if left out' },
    ]}
    toCall={({ command = '', user }) => ({ params: { id }, body: { command, ...(user && { user }) } })}
    // The reply of the service, by its contract.
    onDone={reply => <Output {...(reply as MachineExecuteResult)} />}
    keepsNotice
  />
)

const CloudInit = ({ machine: { ID: id, State: state, owner } }: Props): JSX.Element =>
  state === 'running' ? (
    <Action
      label="Ask cloud-init"
      operation="machines.showCloudInit"
      isOwn={isMe(owner)}
      explanation="The guest says how far its cloud-init is."
      toCall={() => ({ params: { id } })}
      onDone={reply => {
        // The reply of the service, by its contract.
        const { status, stage, errors } = reply as MachineCloudInitStatus
        return `cloud-init: ${[status, stage, ...errors].filter(Boolean).join(' · ')}`
      }}
      keepsNotice
    />
  ) : (
    <Action
      label="Forget cloud-init"
      operation="machines.deleteCloudInit"
      explanation="What the cloud-init of the machine is told is deleted, for example SSH keys and passwords."
      toCall={() => ({ params: { id } })}
    />
  )

/** What can be done with a machine in its present state and needs a form. */
export const MachineActions = ({ machine }: Props): JSX.Element => {
  const { ID: id, Name: name, State: state } = machine
  return (
    <>
      {state === 'stopped' && <Clone machine={machine} />}
      {/^(?:running|paused|suspended)$/.test(state) && <Fork id={machine.ID} />}
      {state === 'running' && <Run machine={machine} />}
      <PushMachine machine={machine} />
      <CloudInit machine={machine} />
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
    </>
  )
}
