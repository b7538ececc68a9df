import type { JSX } from 'preact'
import { formatClient } from '../calls/format-client.ts'
import { formatCommand } from '../calls/format-command.ts'
import { formatCurl } from '../calls/format-curl.ts'
import type { OperationCall } from '../state/calls.ts'

/** How the same is done without this page. */
export const SameCall = ({ call }: { readonly call: OperationCall }): JSX.Element => (
  <details class="same">
    <summary>The same in a shell or a program</summary>
    <h3>Command line</h3>
    <pre tabIndex={0}>{formatCommand(call)}</pre>
    <h3>curl</h3>
    <pre tabIndex={0}>{formatCurl(call)}</pre>
    <h3>TypeScript client</h3>
    <pre tabIndex={0}>{formatClient(call)}</pre>
  </details>
)
