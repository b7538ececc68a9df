import { type Content, type Description, isWebSocket, listReplies, type Operation } from './description.ts'
import { ParameterTable } from './parameter-table.tsx'
import { Prose } from './prose.tsx'
import type { Credential } from './request.ts'
import { SchemaView } from './schema-view.tsx'
import { TryForm } from './try-form.tsx'

interface Props {
  readonly operation: Operation
  readonly description: Description
  readonly credential: Credential
}

const formatExample = (example: unknown): string =>
  typeof example === 'string' ? example : JSON.stringify(example, undefined, 2)

const ContentView = ({ content, description }: { readonly content: Content; readonly description: Description }) => (
  <>
    {Object.entries(content).map(([type, { schema, example }]) => (
      <div key={type} class="content">
        <p class="media">
          <code>{type}</code>
        </p>
        {schema && <SchemaView schema={schema} description={description} />}
        {example !== undefined && (
          <details>
            <summary>Example</summary>
            <pre tabIndex={0}>{formatExample(example)}</pre>
          </details>
        )}
      </div>
    ))}
  </>
)

const Replies = ({ operation, description }: Omit<Props, 'credential'>) => {
  const replies = listReplies(operation, description)
  const isRefusal = (status: string): boolean => Number(status) >= 400
  return (
    <section>
      <h2>Replies</h2>
      {replies
        .filter(([status]) => !isRefusal(status))
        .map(([status, { description: text, content = {}, headers }]) => (
          <section key={status} class="reply">
            <h3>
              <span class="status">{status}</span> {text}
            </h3>
            {headers && <p class="headers">Headers: {Object.keys(headers).join(', ')}</p>}
            <ContentView content={content} description={description} />
          </section>
        ))}
      <h3>Refusals</h3>
      <table>
        <tbody>
          {replies
            .filter(([status]) => isRefusal(status))
            .map(([status, { description: text }]) => (
              <tr key={status}>
                <th scope="row">{status}</th>
                <td>{text}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  )
}

/** One operation: what it does, takes and replies, and a form that calls it. */
export const OperationView = ({ operation, description, credential }: Props) => {
  const { operationId, method, path, summary, description: text, parameters, requestBody } = operation
  return (
    <article>
      <h1>
        <Prose text={summary} />
      </h1>
      <p class="place">
        <span class={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
        <a class="permalink" href={`#${operationId}`}>
          #{operationId}
        </a>
      </p>
      <p>
        <Prose text={text} />
      </p>
      {isWebSocket(operation) && (
        <p class="note">
          This is a WebSocket. A page cannot set its headers, so a program in a browser asks for a ticket first (
          <a href="#auth.create-ticket">auth.create-ticket</a>) and sends it as the query parameter <code>ticket</code>.
        </p>
      )}
      {parameters.length > 0 && (
        <section>
          <h2>Parameters</h2>
          <ParameterTable parameters={parameters} description={description} />
        </section>
      )}
      {requestBody && (
        <section>
          <h2>Body{requestBody.required ? '' : ' (optional)'}</h2>
          <ContentView content={requestBody.content} description={description} />
        </section>
      )}
      <TryForm operation={operation} credential={credential} />
      <Replies operation={operation} description={description} />
    </article>
  )
}
