import { Command } from 'commander'
import type { Run } from './run.ts'

/** `vmhost keys …` */
export const keysCommand = (run: Run): Command => {
  const keys = new Command('keys').description('The keys that sign tokens')
  run(
    keys.command('rotate').description('Sign with a new key; tokens of the old one stay valid until they expire'),
    async ask => {
      const { kid } = await ask<{ kid: string }>('POST', '/auth/key/rotate')
      console.log(`Tokens are signed with the key ${kid} from now on.`)
      console.log('Backups of an encrypted store from before are opened by the old key, which is kept in keys/retired.')
    },
  )
  return keys
}
