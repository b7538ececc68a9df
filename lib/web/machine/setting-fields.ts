import type { FieldOptions, Values } from '../parts/field.tsx'
import { formatPairs } from '../parts/pairs.ts'
import type { MachineRow } from '../state/machines.ts'

/** An operation of `set`. */
export interface SetOperation {
  readonly group: string
  readonly operation: string
  readonly value?: string
}

/** A setting: its field, and the operation that changes it. */
interface Setting {
  readonly field: Omit<FieldOptions, 'value'>
  readonly group: string
  readonly operation: string
  readonly read: (machine: MachineRow) => string
}

const switchOptions = [
  ['on', 'on'],
  ['off', 'off'],
] as const

const settings: readonly Setting[] = [
  {
    field: { name: 'name', label: 'Name', isRequired: true },
    group: 'machine',
    operation: 'rename',
    read: ({ Name }) => Name,
  },
  {
    field: { name: 'cpus', label: 'Processors', kind: 'number', min: 1, isRequired: true },
    group: 'cpu',
    operation: 'set',
    read: ({ Hardware }) => String(Hardware.cpu.cpus),
  },
  {
    field: { name: 'memory', label: 'Memory in MB', kind: 'number', min: 1, isRequired: true },
    group: 'memory',
    operation: 'set',
    read: ({ Hardware }) => String(Number.parseInt(Hardware.memory.size, 10)),
  },
  {
    field: { name: 'description', label: 'Description' },
    group: 'description',
    operation: 'set',
    read: ({ Description }) => Description,
  },
  {
    field: { name: 'labels', label: 'Labels', help: 'name=value,name=value' },
    group: 'labels',
    operation: 'set',
    read: ({ labels }) => formatPairs(labels),
  },
  {
    field: { name: 'autostart', label: 'Start with the service', kind: 'select', options: switchOptions },
    group: 'autostart',
    operation: 'enabled',
    read: ({ autostart }) => (autostart?.enabled ? 'on' : 'off'),
  },
  {
    field: {
      name: 'restart',
      label: 'Restart',
      kind: 'select',
      options: [
        ['never', 'never'],
        ['on-crash', 'after a crash'],
      ],
    },
    group: 'restart',
    operation: 'set',
    read: ({ restart = 'never' }) => restart,
  },
  {
    field: { name: 'network', label: 'Network', help: 'isolated, nat, bridge:NAME or network:NAME; empty: no change' },
    group: 'network',
    operation: 'set',
    read: () => '',
  },
  {
    field: { name: 'ttl', label: 'Delete after seconds', kind: 'number', min: 1, help: 'Empty: no change' },
    group: 'ttl',
    operation: 'set',
    read: () => '',
  },
]

/** The fields of the settings of a machine, filled with what it has. */
export const listSettingFields = (machine: MachineRow): readonly FieldOptions[] =>
  settings.map(({ field, read }) => ({ ...field, value: read(machine) }))

/** The operations that turn the settings which the form began with into those that are in it now. */
export const toOperations = (before: readonly FieldOptions[], values: Values): readonly SetOperation[] =>
  settings
    .filter(({ field }) => values[field.name] !== before.find(({ name }) => name === field.name)?.value)
    .map(({ field, group, operation }) => ({ group, operation, value: values[field.name] ?? '' }))
