/** The text of a field in a form; empty without one. */
export const textOfField = (form: HTMLFormElement, name: string): string => {
  const value = new FormData(form).get(name)
  return typeof value === 'string' ? value : ''
}

/** The words of a text, which spaces or commas separate. */
export const splitWords = (text: string | undefined): string[] => (text ?? '').split(/[\s,]+/).filter(Boolean)
