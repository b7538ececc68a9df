import type { Description, Parameter } from './description.ts'
import { Prose } from './prose.tsx'
import { formatType, listLimits } from './schema-text.ts'

interface Props {
  readonly parameters: readonly Parameter[]
  readonly description: Description
}

/** The parameters of an operation: where each one is, its type, what it means, and its limits. */
export const ParameterTable = ({ parameters, description }: Props) => (
  <dl class="members">
    {parameters.map(({ name, in: place, required, description: text, schema }) => (
      <div key={`${place}:${name}`}>
        <dt>
          <code>{name}</code> <span class="type">{formatType(schema, description)}</span>{' '}
          <span class="kind">{place}</span>
          {required && <span class="required">required</span>}
        </dt>
        <dd>
          <Prose text={text ?? ''} />
          {listLimits(schema).map(limit => (
            <span key={limit} class="limit">
              {limit}
            </span>
          ))}
        </dd>
      </div>
    ))}
  </dl>
)
