import { ServiceError } from '#lib/errors.ts'

/** Prompts for an e-mail address on a terminal. Throws `invalid` if the input is cancelled. */
export const readEmail = async (label: string): Promise<string> => {
  const { isCancel, text } = await import('@clack/prompts')
  const input = await text({ message: label, validate: value => (value?.trim() ? undefined : 'The address is empty.') })
  if (isCancel(input)) throw new ServiceError('invalid', 'Cancelled; nothing was changed.')
  return input.trim()
}
