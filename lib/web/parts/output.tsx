import type { JSX } from 'preact'

interface Props {
  readonly stdout?: string
  readonly stderr?: string
  /** Left out where none is told. */
  readonly exit_code?: number
}

/** What a command has written, and its exit code. */
export const Output = ({ stdout = '', stderr = '', exit_code: code }: Props): JSX.Element => (
  <>
    <p>{code === undefined ? 'The command has ended.' : `The exit code is ${code}.`}</p>
    {stdout && <pre tabIndex={0}>{stdout}</pre>}
    {stderr && <pre tabIndex={0}>{stderr}</pre>}
  </>
)
