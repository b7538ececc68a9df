import type { Description, Operation } from './description.ts'
import { Prose } from './prose.tsx'

interface Props {
  readonly description: Description
  readonly operations: readonly Operation[]
  /** An id in the address of the page that no operation has. */
  readonly missing: string
}

/** What a reader sees first: the text of the document, and its areas. */
export const Introduction = ({ description: { info, tags }, operations, missing }: Props) => (
  <article>
    {missing !== '' && (
      <p class="problem" role="alert">
        This service has no operation <code>{missing}</code>. Look for it in the list.
      </p>
    )}
    <h1>
      {info.title} {info.version} API
    </h1>
    {info.description.split('\n\n').map(paragraph => (
      <p key={paragraph}>
        <Prose text={paragraph} />
      </p>
    ))}
    <p>
      Choose an operation to see what it takes and replies, and to call it. The whole description is one{' '}
      <a href="/api/openapi.json">OpenAPI 3.1 document</a>.
    </p>
    <table>
      <thead>
        <tr>
          <th>Area</th>
          <th>Operations</th>
          <th>What it is about</th>
        </tr>
      </thead>
      <tbody>
        {tags.map(({ name, description }) => {
          const own = operations.filter(({ tags: [area] }) => area === name)
          return (
            <tr key={name}>
              <td>
                <a href={`#${own[0]?.operationId ?? ''}`}>{name}</a>
              </td>
              <td class="number">{own.length}</td>
              <td>{description}</td>
            </tr>
          )
        })}
      </tbody>
    </table>
  </article>
)
