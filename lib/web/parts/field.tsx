import { h, type JSX } from 'preact'
import { useId } from 'preact/hooks'
import { textOfField } from './form-text.ts'

/** The values of a form by the names of its fields. */
export type Values = Readonly<Record<string, string>>

/** A field of a form. */
export interface FieldOptions {
  readonly name: string
  readonly label: string
  readonly kind?: 'text' | 'number' | 'password' | 'checkbox' | 'select' | 'area' | 'email' | 'url'
  readonly value?: string
  readonly isRequired?: boolean
  readonly help?: string
  /** Of a select: value and text. */
  readonly options?: readonly (readonly [value: string, text: string])[]
  readonly min?: number
  readonly max?: number
  readonly pattern?: string
  /** What the browser proposes while somebody types. */
  readonly suggestions?: readonly string[]
}

/** The values of the fields in a form. A box that is not ticked has an empty text. */
export const readValues = (form: HTMLFormElement, fields: readonly FieldOptions[]): Values =>
  Object.fromEntries(fields.map(({ name }) => [name, textOfField(form, name)]))

interface ControlOptions {
  readonly field: FieldOptions
  readonly id: string
  /** The id of the help, if there is one. */
  readonly helpId: string | undefined
}

const Control = ({ field, id, helpId }: ControlOptions): JSX.Element => {
  const { kind = 'text', options = [], isRequired, value, name, min, max, pattern, suggestions } = field
  const isSecret = kind === 'password'
  const common = { id, name, required: isRequired, 'aria-describedby': helpId }
  const list = suggestions && `${id}-list`
  const bounds = { min, max, pattern, list }
  if (kind === 'select')
    return (
      <select {...common} defaultValue={value}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    )
  if (kind === 'area') return <textarea {...common} rows={6} spellcheck={false} defaultValue={value} />
  if (kind === 'checkbox') return <input {...common} type="checkbox" value="true" defaultChecked={value === 'true'} />
  // The types of Preact know each type of an input by itself, not all of them.
  return h('input', {
    ...common,
    ...bounds,
    type: kind,
    defaultValue: value,
    autocomplete: isSecret ? 'new-password' : 'off',
  })
}

/** A field with its label and its help. */
export const Field = (field: FieldOptions): JSX.Element => {
  const id = useId()
  const { label, help, kind, suggestions } = field
  return (
    <div class={`field ${kind === 'checkbox' ? 'box' : ''}`}>
      <label for={id}>{label}</label>
      <Control field={field} id={id} helpId={help && `${id}-help`} />
      {suggestions && (
        <datalist id={`${id}-list`}>
          {suggestions.map(text => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
      {help && (
        <small id={`${id}-help`} class="hint">
          {help}
        </small>
      )}
    </div>
  )
}
