import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { makeCall, type OperationCall } from '../state/calls.ts'
import { mayOn } from '../state/session.ts'
import { Field, type FieldOptions, readValues, type Values } from './field.tsx'
import { tellDone } from './notices.tsx'
import { Problem } from './problem.tsx'
import { SameCall } from './same-call.tsx'
import { JobLink, isJob } from './job-link.tsx'
import { messageOf } from './text.ts'

interface Props {
  /** What the button says, and the title of the dialog. */
  readonly label: string
  readonly kind?: 'primary' | 'danger'
  /** The operation, which must be known before the fields are filled, because the button is only for who may call it. */
  readonly operation: string
  readonly fields?: readonly FieldOptions[]
  /** What the action does, where the label does not say it all. */
  readonly explanation?: ComponentChildren
  readonly toCall: (values: Values) => Omit<OperationCall, 'operation'>
  /** What to tell when it is done. */
  readonly onDone?: (reply: unknown) => ComponentChildren | void
  /** Whether what the action is about belongs to the user; left out where that does not matter. */
  readonly isOwn?: boolean
  /** What is told stays until it is dismissed. */
  readonly keepsNotice?: boolean
}

/** The values as they are shown to others: a secret is not. */
const hideSecrets = (fields: readonly FieldOptions[], values: Values): Values => ({
  ...values,
  ...Object.fromEntries(
    fields.filter(({ kind, name }) => kind === 'password' && values[name]).map(({ name }) => [name, '…']),
  ),
})

const describeDone = (label: string, reply: unknown): ComponentChildren =>
  isJob(reply) ? <JobLink job={reply}>{label}: a job has begun.</JobLink> : `Done: ${label}.`

interface DialogProps extends Props {
  readonly onClose: () => void
}

/** The form of an action. It stays open with the reason when the service refuses. */
const ActionDialog = (props: DialogProps): JSX.Element => {
  const { label, kind, operation, fields = [], explanation, toCall, onDone, keepsNotice = false, onClose } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const form = useRef<HTMLFormElement>(null)
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(({ name, value = '' }) => [name, value])),
  )
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  useEffect(() => dialog.current?.showModal(), [])
  const onSubmit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem(undefined)
    try {
      const reply = await makeCall({ operation, ...toCall(values) })
      onClose()
      tellDone(onDone?.(reply) ?? describeDone(label, reply), keepsNotice)
    } catch (error) {
      setProblem(messageOf(error))
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} onClose={onClose} aria-label={label}>
      <form ref={form} onSubmit={onSubmit} onInput={() => form.current && setValues(readValues(form.current, fields))}>
        <h2>{label}</h2>
        {explanation && <div class="hint">{explanation}</div>}
        {fields.map(field => (
          <Field key={field.name} {...field} />
        ))}
        <Problem text={problem} />
        <SameCall calls={[{ operation, ...toCall(hideSecrets(fields, values)) }]} />
        <footer>
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button class={kind === 'danger' ? 'danger' : 'primary'} disabled={isBusy}>
            {isBusy ? 'Working…' : label}
          </button>
        </footer>
      </form>
    </dialog>
  )
}

/** A button for an action with a form, for who may do it. */
export const Action = (props: Props): JSX.Element | null => {
  const [isOpen, setOpen] = useState(false)
  if (!mayOn(props.operation, props.isOwn ?? true)) return null
  return (
    <>
      <button type="button" class={props.kind} onClick={() => setOpen(true)}>
        {props.label}…
      </button>
      {isOpen && <ActionDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}
