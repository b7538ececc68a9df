import type { MachineSetResult } from '#lib/client/api.gen.ts'
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Field, readValues, type Values } from '../parts/field.tsx'
import { tellDone } from '../parts/notices.tsx'
import { Problem } from '../parts/problem.tsx'
import { SameCall } from '../parts/same-call.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { messageOf } from '../parts/text.ts'
import { makeCall } from '../state/calls.ts'
import type { MachineRow } from '../state/machines.ts'
import { listSettingFields, toOperations } from './setting-fields.ts'

type Result = MachineSetResult['operations'][number]

const columns: readonly Column<Result>[] = [
  { title: 'Setting', cell: ({ change, group }) => change?.field ?? group },
  { title: 'Now', cell: ({ change }) => change?.from },
  { title: 'Then', cell: ({ change }) => change?.to },
  { title: 'When', cell: ({ effect, status }) => effect ?? status },
  { title: 'Error', cell: ({ error }) => error },
]

/** The settings of a machine. A change can be tried before it is made; all changes are made, or none. */
export const SettingsPanel = ({ machine }: { readonly machine: MachineRow }): JSX.Element => {
  const form = useRef<HTMLFormElement>(null)
  const [fields, setFields] = useState(() => listSettingFields(machine))
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, value = '' }) => [name, value])),
  )
  const [tried, setTried] = useState<readonly Result[]>()
  const [problem, setProblem] = useState<string>()
  const operations = toOperations(fields, values)
  const call = { operation: 'machines.set', params: { id: machine.ID }, body: { operations } }
  const send = async (isDryRun: boolean): Promise<void> => {
    setProblem(undefined)
    setTried(undefined)
    try {
      // The reply of the service, by its contract.
      const reply = (await makeCall({ ...call, ...(isDryRun && { query: { dry_run: true } }) })) as MachineSetResult
      if (isDryRun) return setTried(reply.operations)
      setFields(fields.map(field => ({ ...field, value: values[field.name] ?? '' })))
      tellDone('The settings were changed.')
    } catch (error) {
      setProblem(messageOf(error))
    }
  }
  const onSubmit = (event: SubmitEvent): void => {
    event.preventDefault()
    void send(false)
  }
  return (
    <section class="panel" aria-label="Settings">
      <h2>Settings</h2>
      <form
        ref={form}
        class="columns"
        onSubmit={onSubmit}
        onInput={() => form.current && setValues(readValues(form.current, fields))}
      >
        {fields.map(field => (
          <Field key={field.name} {...field} />
        ))}
        <footer>
          <button type="button" disabled={operations.length === 0} onClick={() => void send(true)}>
            Try without changing
          </button>
          <button class="primary" disabled={operations.length === 0}>
            Change
          </button>
        </footer>
      </form>
      <Problem text={problem} />
      {tried && (
        <Table
          label="What would change"
          columns={columns}
          rows={tried}
          keyOf={({ group, operation }) => `${group} ${operation}`}
        />
      )}
      {operations.length > 0 && <SameCall calls={[call]} />}
    </section>
  )
}
