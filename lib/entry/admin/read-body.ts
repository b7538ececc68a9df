import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'

/** Returns the body that an option gives: itself, the content of `@FILE`, or standard input for `-`. */
export const readBody = async (option: string | undefined): Promise<string | undefined> => {
  if (option === '-') return text(process.stdin)
  return option?.startsWith('@') ? readFile(option.slice(1), 'utf8') : option
}
