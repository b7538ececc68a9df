import { Command } from 'commander'
import type { CommandContext } from './context.ts'

/** `vmhost keys …` */
export const createKeysCommand = ({ register }: CommandContext): Command => {
  const keys = new Command('keys')
  register(
    keys.command('rotate').description('Sign tokens with a new key; existing tokens stay valid until they expire'),
    async callApi => {
      const { kid } = await callApi<{ kid: string }>('POST', '/auth/key/rotate')
      console.log(`The service now signs tokens with the key ${kid}.`)
      console.log('Only the old key opens earlier backups of an encrypted store; it is in keys/retired.')
    },
  )
  return keys
}
