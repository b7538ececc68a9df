import type { JSX } from 'preact'

/** A refusal or a failure, which assistive technology reads at once. */
export const Problem = ({ text }: { readonly text: string | undefined }): JSX.Element | null =>
  text ? (
    <p class="problem" role="alert">
      {text}
    </p>
  ) : null
