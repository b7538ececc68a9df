import type { Forward } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Action } from '../parts/action.tsx'
import { Problem } from '../parts/problem.tsx'
import { messageOf } from '../parts/text.ts'
import { lastCall } from '../state/calls.ts'
import { client } from '../state/service.ts'

interface Props {
  readonly id: string
  /** They exist while the machine runs. */
  readonly state: string
}

/** The ports of the host that lead to a machine. */
export const ForwardsPanel = ({ id, state }: Props): JSX.Element => {
  const [forwards, setForwards] = useState<readonly Forward[]>([])
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    let isClosed = false
    const load = async (): Promise<void> => {
      try {
        const next = await client.api.machines.listForwards({ params: { id } })
        if (!isClosed) setForwards(next)
      } catch (error) {
        if (!isClosed) setProblem(messageOf(error))
      }
    }
    void load()
    const stop = lastCall.subscribe(() => {
      if (lastCall.get()?.area === 'machines') void load()
    })
    return () => {
      isClosed = true
      stop()
    }
  }, [id, state])
  return (
    <section aria-label="Forwarded ports">
      <header>
        <h2>Forwarded ports</h2>
        <div class="actions">
          <Action
            label="Forward a port"
            operation="machines.addForward"
            fields={[
              { name: 'host', label: 'Port of the host', kind: 'number', min: 0, max: 65535, isRequired: true },
              { name: 'guest', label: 'Port of the guest', kind: 'number', min: 1, max: 65535, isRequired: true },
              {
                name: 'protocol',
                label: 'Protocol',
                kind: 'select',
                options: [
                  ['tcp', 'TCP'],
                  ['udp', 'UDP'],
                ],
              },
            ]}
            toCall={({ host, guest, protocol }) => ({
              params: { id },
              body: { host_port: Number(host), guest_port: Number(guest), protocol },
            })}
          />
        </div>
      </header>
      <Problem text={problem} />
      {forwards.length === 0 && !problem && <p class="hint">No port of the host leads to this machine.</p>}
      <ul class="plain">
        {forwards.map(forward => (
          <li key={forward.id}>
            <code>
              {forward.protocol} {forward.host_address}:{forward.host_port} → {forward.guest_port}
            </code>
            <Action
              label="Close"
              operation="machines.removeForward"
              toCall={() => ({ params: { id, forward: forward.id } })}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}
