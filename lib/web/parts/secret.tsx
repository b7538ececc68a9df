import type { JSX } from 'preact'

/** A credential that the service tells once. */
export const Secret = ({ name, value }: { readonly name: string; readonly value: string }): JSX.Element => (
  <>
    <p>Copy it now. Nobody can see it again.</p>
    <strong>{name}</strong>
    <pre tabIndex={0}>{value}</pre>
  </>
)
