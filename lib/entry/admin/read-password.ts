import { text } from 'node:stream/consumers'
import { ServiceError } from '#lib/errors.ts'

/** A password from a person, typed twice and not shown, or from standard input, up to its end. Never from an argument. */
export const readPassword = async (whose: string): Promise<string> => {
  if (!process.stdin.isTTY) {
    const piped = (await text(process.stdin)).replace(/\r?\n$/, '')
    if (piped === '') throw new ServiceError('invalid', `Nothing came on standard input: ${whose} is expected there.`)
    return piped
  }
  const { isCancel, password } = await import('@clack/prompts')
  const typed = await password({ message: whose })
  if (isCancel(typed)) throw new ServiceError('invalid', 'Nothing was changed.')
  const again = await password({
    message: 'The same again',
    validate: value => (value === typed ? undefined : 'It is not the same.'),
  })
  if (isCancel(again)) throw new ServiceError('invalid', 'Nothing was changed.')
  return typed
}
