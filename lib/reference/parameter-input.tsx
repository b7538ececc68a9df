import type { Parameter } from './description.ts'

interface Props {
  readonly parameter: Parameter
  readonly value: string
  readonly onChange: (value: string) => void
}

/** The values that a parameter can have, if the document lists them. */
const listValues = ({ schema }: Parameter): readonly string[] =>
  schema.type === 'boolean' ? ['true', 'false'] : (schema.enum ?? []).map(String)

const describeEmpty = ({ schema }: Parameter): string => {
  if (schema.default !== undefined) return `${JSON.stringify(schema.default)} (default)`
  return schema.examples === undefined ? '' : `such as ${String(schema.examples[0])}`
}

/** The field of one parameter in a form. */
export const ParameterInput = ({ parameter, value, onChange }: Props) => {
  const values = listValues(parameter)
  const { name, in: place, required } = parameter
  return (
    <label class="field">
      <span>
        {name} <small>{place}</small>
        {required && <span class="required">required</span>}
      </span>
      {values.length > 0 ? (
        <select value={value} required={required} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
          <option value="">{describeEmpty(parameter)}</option>
          {values.map(one => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : (
        <input
          value={value}
          required={required}
          placeholder={describeEmpty(parameter)}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </label>
  )
}
