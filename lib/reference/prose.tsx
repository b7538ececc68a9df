/** A text, with what is between backticks as code. */
export const Prose = ({ text }: { readonly text: string }) => (
  <>
    {text.split('`').map((part, index) =>
      // Every second part is between backticks.
      index % 2 === 1 ? <code key={index}>{part}</code> : part,
    )}
  </>
)
