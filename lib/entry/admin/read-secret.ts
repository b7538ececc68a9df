import { text } from 'node:stream/consumers'
import { UsageError } from '../usage-error.ts'

/** The lines of standard input that are not read yet. Several secrets come one a line. */
let lines: string[] | undefined

/**
 * Reads a secret that exists already: from a prompt on a terminal, else from the next line of standard input.
 * @param label names the secret in messages
 * @throws UsageError if there is none
 */
export const readSecret = async (label: string): Promise<string> => {
  if (process.stdin.isTTY) {
    const { isCancel, password } = await import('@clack/prompts')
    const input = await password({ message: label })
    if (isCancel(input)) throw new UsageError('Cancelled; nothing was changed.')
    return input
  }
  lines ??= (await text(process.stdin)).split(/\r?\n/)
  const line = lines.shift()
  if (line) return line
  throw new UsageError(`Standard input has no more line; the next one must be the ${label}.`)
}
