import type { Image, MachinesCreateRequest } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { Action } from '../parts/action.tsx'
import type { Values } from '../parts/field.tsx'
import { goTo } from '../state/route.ts'

/** MB. */
const leastMemory = 16
const usualMemory = '1024'

/** What cloud-init makes of it: the default user of the guest signs in with a password on the console, and not by SSH. */
const formatUserData = (password: string): string =>
  `#cloud-config\n${JSON.stringify({ password, chpasswd: { expire: false }, ssh_pwauth: false })}`

const toBody = ({
  name = '',
  image = '',
  cpus,
  memory,
  network,
  key,
  password,
}: Values): MachinesCreateRequest['body'] => ({
  name: name.trim(),
  image,
  cpus: Number(cpus),
  memory: Number(memory),
  ...(network && { network }),
  ...(key?.trim() && { ssh_keys: [key.trim()] }),
  ...(password && { user_data: formatUserData(password) }),
})

/** A button for a machine of an image, whose form is filled already. */
export const CreateMachine = ({ images }: { readonly images: readonly Image[] }): JSX.Element | null => {
  const disks = images.filter(({ kind }) => kind === 'disk')
  const [first] = disks
  if (!first) return null
  return (
    <Action
      label="Create a machine"
      kind="primary"
      operation="machines.create"
      fields={[
        {
          name: 'image',
          label: 'Image',
          kind: 'select',
          value: first.name,
          options: disks.map(({ name }) => [name, name] as const),
        },
        {
          name: 'name',
          label: 'Name',
          value: `${first.name}-${Date.now().toString(36).slice(-4)}`,
          isRequired: true,
        },
        { name: 'cpus', label: 'Processors', kind: 'number', value: '1', min: 1, isRequired: true },
        {
          name: 'memory',
          label: 'Memory in MB',
          kind: 'number',
          value: usualMemory,
          min: leastMemory,
          isRequired: true,
        },
        { name: 'network', label: 'Network', help: 'nat, bridge:NAME or network:NAME; isolated if left out' },
        { name: 'key', label: 'SSH public key', help: 'It may sign in as the default user of the guest (cloud-init).' },
        {
          name: 'password',
          label: 'Console password',
          kind: 'password',
          help: 'With it the default user of the guest signs in on the console (cloud-init).',
        },
        { name: 'start', label: 'Start the machine', kind: 'checkbox', value: 'true' },
      ]}
      toCall={values => ({
        ...(values['start'] && { query: { until: 'running' } }),
        body: toBody(values),
      })}
      // The reply of the service, by its contract.
      onDone={reply => (goTo('machines', (reply as { readonly id: string }).id), 'The machine was created.')}
    />
  )
}
