import { text } from 'node:stream/consumers'
import { ServiceError } from '#lib/errors.ts'

const variable = 'VMHOST_CONNECTION'

/** Help text of the option. */
export const connectionHelp = `as provider=…;key=value;…; - reads it from standard input; default: ${variable}. Every user of this host can read arguments, so pass secrets on standard input or in ${variable}`

/**
 * The connection of the environment, which is taken out of it: it is no setting, and programs that are started from here
 * would inherit it.
 */
export const takeConnection = (): string | undefined => {
  const connection = process.env[variable]
  delete process.env[variable]
  return connection === '' ? undefined : connection
}

const fromPerson = async (): Promise<string> => {
  const { isCancel, password } = await import('@clack/prompts')
  const typed = await password({ message: 'The connection' })
  if (isCancel(typed)) throw new ServiceError('invalid', 'Nothing was done.')
  return typed
}

/** The connection that an option gives: itself, or with `-` what comes on standard input, or is typed and not shown. */
export const readConnection = async (option: string | undefined): Promise<string | undefined> => {
  if (option !== '-') return option
  const connection = (process.stdin.isTTY ? await fromPerson() : await text(process.stdin)).trim()
  if (connection === '')
    throw new ServiceError('invalid', 'Nothing came on standard input: the connection is expected there.')
  return connection
}
