import type { JSX } from 'preact'

/** A credential that the service tells once. */
export const Secret = ({ name, value }: { readonly name: string; readonly value: string }): JSX.Element => (
  <>
    <p>Copy it now. Nobody can see it again.</p>
    <h3>{name}</h3>
    <pre tabIndex={0}>{value}</pre>
  </>
)
