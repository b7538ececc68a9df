import type { JSX } from 'preact'
import { formatClient } from '../calls/format-client.ts'
import { formatCommand } from '../calls/format-command.ts'
import { formatCurl } from '../calls/format-curl.ts'
import type { OperationCall } from '../state/calls.ts'

const ways = [
  ['Command line', formatCommand],
  ['curl', formatCurl],
  ['TypeScript client', formatClient],
] as const

/** How the same is done without this page, for one call or several. */
export const SameCall = ({ calls }: { readonly calls: readonly OperationCall[] }): JSX.Element => (
  <details class="same">
    <summary>The same in a shell or a program</summary>
    {ways.map(([name, format]) => (
      <section key={name}>
        <h3>{name}</h3>
        {calls.map(call => (
          <pre key={call.operation} tabIndex={0}>
            {format(call)}
          </pre>
        ))}
      </section>
    ))}
  </details>
)
