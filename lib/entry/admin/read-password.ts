import { text } from 'node:stream/consumers'
import { ServiceError } from '#lib/errors.ts'

/**
 * Reads a password from standard input, or prompts for it twice on a terminal. `label` names the password in messages. Throws
 * `invalid` if the input is empty or cancelled.
 */
export const readPassword = async (label: string): Promise<string> => {
  if (!process.stdin.isTTY) {
    const piped = (await text(process.stdin)).replace(/\r?\n$/, '')
    if (piped === '') throw new ServiceError('invalid', `Standard input is empty; it must contain ${label}.`)
    return piped
  }
  const { isCancel, password } = await import('@clack/prompts')
  const input = await password({ message: label })
  if (isCancel(input)) throw new ServiceError('invalid', 'Cancelled; nothing was changed.')
  const repeated = await password({
    message: 'Repeat the password',
    validate: value => (value === input ? undefined : 'The two passwords differ.'),
  })
  if (isCancel(repeated)) throw new ServiceError('invalid', 'Cancelled; nothing was changed.')
  return input
}
