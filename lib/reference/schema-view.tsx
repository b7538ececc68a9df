import { useState } from 'preact/hooks'
import { type Description, resolveSchema, type Schema } from './description.ts'
import { Prose } from './prose.tsx'
import { formatType, listLimits, listMembers, type Member } from './schema-text.ts'

interface Props {
  readonly schema: Schema
  readonly description: Description
}

/** The members below a member. They are made when a reader opens them, because a schema may hold itself. */
const NestedMembers = ({ schema, description }: Props) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Members</summary>
      {isOpen && <MemberList schema={schema} description={description} />}
    </details>
  )
}

const MemberView = ({ member, description }: { readonly member: Member; readonly description: Description }) => {
  const { name, schema, isRequired } = member
  const { schema: resolved } = resolveSchema(schema, description)
  return (
    <div>
      <dt>
        <code>{name}</code> <span class="type">{formatType(schema, description)}</span>
        {isRequired && <span class="required">required</span>}
      </dt>
      <dd>
        <Prose text={resolved.description ?? ''} />
        {listLimits(resolved).map(limit => (
          <span key={limit} class="limit">
            {limit}
          </span>
        ))}
        {listMembers(schema, description).length > 0 && <NestedMembers schema={schema} description={description} />}
      </dd>
    </div>
  )
}

const MemberList = ({ schema, description }: Props) => (
  <dl class="members">
    {listMembers(schema, description).map((member, index) => (
      <MemberView key={index} member={member} description={description} />
    ))}
  </dl>
)

/** A schema: its type, and its members with theirs. */
export const SchemaView = ({ schema, description }: Props) => (
  <>
    <p class="type">{formatType(schema, description)}</p>
    <MemberList schema={schema} description={description} />
  </>
)
