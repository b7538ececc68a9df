import { text } from 'node:stream/consumers'
import { ServiceError } from '#lib/errors.ts'

const variable = 'VMHOST_CONNECTION'

/** Help text of the option. */
export const connectionHelp = `as provider=…;key=value;…; - reads it from standard input; default: ${variable}. Every user of this host can read arguments, so pass secrets on standard input or in ${variable}`

/**
 * Returns the connection of the environment and deletes the variable, because it is a secret that child processes would inherit.
 */
export const takeConnection = (): string | undefined => {
  const connection = process.env[variable]
  delete process.env[variable]
  return connection === '' ? undefined : connection
}

const promptConnection = async (): Promise<string> => {
  const { isCancel, password } = await import('@clack/prompts')
  const input = await password({ message: 'Connection' })
  if (isCancel(input)) throw new ServiceError('invalid', 'Cancelled; nothing was changed.')
  return input
}

/**
 * Returns the connection of an option. For `-` it reads standard input, or prompts on a terminal. Throws `invalid` if the input is
 * empty or cancelled.
 */
export const readConnection = async (option: string | undefined): Promise<string | undefined> => {
  if (option !== '-') return option
  const connection = (process.stdin.isTTY ? await promptConnection() : await text(process.stdin)).trim()
  if (connection === '') throw new ServiceError('invalid', 'Standard input is empty; it must contain the connection.')
  return connection
}
