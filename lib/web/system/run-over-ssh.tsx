import type { SshResult } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import { Output } from '../parts/output.tsx'

/** A button that runs a command on another host. */
export const RunOverSsh = (): JSX.Element => (
  <Action
    label="Run a command over SSH"
    operation="ssh.execute"
    fields={[
      { name: 'host', label: 'Host', isRequired: true },
      { name: 'username', label: 'User on the host', isRequired: true },
      { name: 'password', label: 'Password', kind: 'password' },
      { name: 'fingerprint', label: 'Fingerprint of the host key' },
      { name: 'command', label: 'Command', isRequired: true },
    ]}
    toCall={({ host = '', username = '', password, fingerprint, command = '' }) => ({
      body: { host, username, command, ...(password && { password }), ...(fingerprint && { fingerprint }) },
    })}
    onDone={reply => {
      // The reply of the service, by its contract.
      const { output, error } = reply as SshResult
      return <Output stdout={output} stderr={error} />
    }}
    keepsNotice
  />
)
