import type { JSX } from 'preact'

interface Flags {
  readonly tainted?: boolean
  readonly revoked?: boolean
}

/** Whether a manifest can be pulled, in a word. */
export const describeUse = ({ tainted = false, revoked = false }: Flags): string =>
  revoked ? 'revoked' : tainted ? 'tainted' : 'usable'

/** Whether a manifest can be pulled, with a colour beside the word. */
export const ManifestState = ({ manifest }: { readonly manifest: Flags }): JSX.Element => {
  const use = describeUse(manifest)
  return <span class={`state ${use === 'usable' ? 'good' : 'bad'}`}>{use}</span>
}
